import type { DefinitionKind } from "../../../../shared/engine/definitions/definition.ts";
import {
  definitionOfParts,
  type FileParts,
  partsOfDefinition,
} from "../../../../shared/engine/definitions/file_parts.ts";
import type { JsonObject } from "../../../../shared/platform/values/json.ts";
import {
  type EditedDocument,
  type EditedKind,
  SETTING_KINDS,
  type SettingKind,
} from "../../queries/definitions.ts";

/** True for a setting, which has no file. */
export function isSetting(kind: EditedKind): kind is SettingKind {
  return (SETTING_KINDS as readonly EditedKind[]).includes(kind);
}

/** The fields and the text of a form: a setting is all fields. */
export function partsOfDocument({ kind, slug, definition }: EditedDocument): FileParts {
  return isSetting(kind)
    ? { fields: definition, text: null }
    : partsOfDefinition({ kind, slug, definition });
}

/** The reverse of {@linkcode partsOfDocument}. */
export function documentOfParts(
  { kind, slug }: { readonly kind: EditedKind; readonly slug: string },
  parts: FileParts,
  before: JsonObject,
): JsonObject {
  return isSetting(kind)
    ? parts.fields
    : definitionOfParts({ kind: kind as DefinitionKind, slug }, parts, before);
}
