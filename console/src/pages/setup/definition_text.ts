import { stringify } from "yaml";
import type { RegistryDefinition } from "../../../../shared/engine/definitions/definition.ts";
import { partsOfDefinition } from "../../../../shared/engine/definitions/file_parts.ts";
import { fileText } from "../../../../shared/engine/definitions/write_definitions.ts";
import type { JsonObject } from "../../../../shared/platform/values/json.ts";

/** The text of the file that defines this; empty if there is no definition. */
export function textOfDefinition(
  { kind, slug }: Pick<RegistryDefinition, "kind" | "slug">,
  definition: JsonObject | null,
): string {
  if (definition === null) return "";
  const { fields, text } = partsOfDefinition({ kind, slug, definition });
  const isEntry = kind === "schedule" || kind === "webhook";
  return fileText(
    { fields: isEntry ? { [slug]: fields } : fields, text },
    (value) => stringify(value, { lineWidth: 0 }),
  );
}
