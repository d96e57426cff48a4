import { stringify } from "yaml";
import {
  isEntryKind,
  type RegistryDefinition,
} from "../../../../shared/engine/definitions/definition.ts";
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
  return fileText(
    { fields: isEntryKind(kind) ? { [slug]: fields } : fields, text },
    (value) => stringify(value, { lineWidth: 0 }),
  );
}
