import { stringify } from "yaml";
import { isEntryKind } from "../../../../shared/engine/definitions/definition.ts";
import { fileText } from "../../../../shared/engine/definitions/write_definitions.ts";
import type { JsonObject } from "../../../../shared/platform/values/json.ts";
import type { EditedDocument } from "../../queries/definitions.ts";
import { isSetting, partsOfDocument } from "./document_parts.ts";

/** The text of the file that defines this, or a setting as YAML; empty if there is none. */
export function textOfDefinition(
  { kind, slug }: Pick<EditedDocument, "kind" | "slug">,
  definition: JsonObject | null,
): string {
  if (definition === null) return "";
  const write = (value: unknown) => stringify(value, { lineWidth: 0 });
  const { fields, text } = partsOfDocument({ kind, slug, definition });
  if (isSetting(kind)) return write(fields);
  return fileText({ fields: isEntryKind(kind) ? { [slug]: fields } : fields, text }, write);
}
