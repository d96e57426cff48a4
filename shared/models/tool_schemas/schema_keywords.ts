import { isJsonObject, type JsonObject, type JsonValue } from "../../platform/values/json.ts";

/** The kind of a keyword's value. */
export type KeywordForm =
  | "schema"
  | "schema_or_boolean"
  | "schema_list"
  | "schema_map"
  | "plain";

const isText = (value: JsonValue) => typeof value === "string";
const isNumber = (value: JsonValue) => typeof value === "number" && Number.isFinite(value);
const isCount = (value: JsonValue) => Number.isInteger(value) && Number(value) >= 0;
const isSchema = (value: JsonValue) => typeof value === "boolean" || isJsonObject(value);
const isSchemaList = (value: JsonValue) =>
  Array.isArray(value) && value.length > 0 && value.every(isSchema);
const isMapOf = (isItem: (value: JsonValue) => boolean) => (value: JsonValue) =>
  isJsonObject(value) && Object.values(value).every(isItem);
const isNames = (value: JsonValue) => Array.isArray(value) && value.every(isText);

interface Keyword {
  readonly form: KeywordForm;
  readonly isValid: (value: JsonValue) => boolean;
}

function keywords(
  form: KeywordForm,
  isValid: (value: JsonValue) => boolean,
  ...names: string[]
): [string, Keyword][] {
  return names.map((name) => [name, { form, isValid }]);
}

/** Every keyword of JSON Schema 2020-12 that is relevant to a tool's arguments. */
export const KEYWORDS: ReadonlyMap<string, Keyword> = new Map([
  ...keywords("schema", isSchema, "not", "if", "then", "else", "contains", "propertyNames"),
  ...keywords("schema_or_boolean", isSchema, "items", "additionalProperties"),
  ...keywords("schema_or_boolean", isSchema, "unevaluatedItems", "unevaluatedProperties"),
  ...keywords("schema_list", isSchemaList, "anyOf", "oneOf", "allOf", "prefixItems"),
  ...keywords("schema_map", isMapOf(isSchema), "properties", "dependentSchemas"),
  ...keywords("schema_map", isPatternMap, "patternProperties"),
  ...keywords("plain", isType, "type"),
  ...keywords("plain", isCount, "minLength", "maxLength", "minItems", "maxItems"),
  ...keywords("plain", isCount, "minProperties", "maxProperties", "minContains", "maxContains"),
  ...keywords("plain", isNumber, "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
  ...keywords("plain", (value) => isNumber(value) && Number(value) > 0, "multipleOf"),
  ...keywords("plain", isText, "title", "description", "format"),
  ...keywords("plain", isText, "contentEncoding", "contentMediaType"),
  ...keywords("plain", isPattern, "pattern"),
  ...keywords("plain", (value) => Array.isArray(value) && value.length > 0, "enum"),
  ...keywords("plain", (value) => Array.isArray(value), "examples"),
  ...keywords("plain", () => true, "const", "default"),
  ...keywords("plain", isNames, "required"),
  ...keywords("plain", isMapOf(isNames), "dependentRequired"),
  ...keywords("plain", (value) => typeof value === "boolean", "uniqueItems"),
]);

/** Keywords that do not affect validity. */
export const ANNOTATIONS: ReadonlySet<string> = new Set([
  "title",
  "description",
  "default",
  "examples",
]);

/** Keywords that are resolved, or irrelevant to a caller. */
export const SILENT_KEYWORDS: ReadonlySet<string> = new Set([
  "$schema",
  "$id",
  "id",
  "$anchor",
  "$dynamicAnchor",
  "$recursiveAnchor",
  "$comment",
  "$defs",
  "definitions",
  "$vocabulary",
  "$ref",
  "$dynamicRef",
  "$recursiveRef",
  "deprecated",
  "readOnly",
  "writeOnly",
  "contentSchema",
]);

/** Keywords whose value is data, so that nothing in it is a schema. */
export const DATA_KEYWORDS: ReadonlySet<string> = new Set(["enum", "const", "default", "examples"]);

const TYPES: ReadonlySet<JsonValue> = new Set([
  "string",
  "number",
  "integer",
  "boolean",
  "object",
  "array",
  "null",
]);

function isType(value: JsonValue): boolean {
  const types: readonly JsonValue[] = Array.isArray(value) ? value : [value];
  return types.length > 0 && types.every((type) => TYPES.has(type));
}

/** Whether it is a regular expression as used in JSON Schema. */
function isPattern(value: JsonValue): boolean {
  if (typeof value !== "string") return false;
  try {
    return new RegExp(value, "u") instanceof RegExp;
  } catch {
    return false;
  }
}

function isPatternMap(value: JsonValue): boolean {
  return isMapOf(isSchema)(value) && Object.keys(value as JsonObject).every(isPattern);
}

/** The types of a schema; empty if it has none. */
export function typesOf(schema: JsonObject): readonly string[] {
  const { type } = schema;
  if (typeof type === "string") return [type];
  return namesIn(type);
}

/** The strings of a list that may not be one. */
export function namesIn(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.filter((name) => typeof name === "string") : [];
}

/** The schemas of a list that may not be one. */
export function schemasIn(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** The values that a schema allows; undefined if it does not list them. */
export function listedValues(schema: JsonObject): readonly JsonValue[] | undefined {
  if (schema.const !== undefined) return [schema.const];
  return Array.isArray(schema.enum) ? schema.enum : undefined;
}

/** A schema that matches nothing. */
export function isNever(schema: JsonValue | undefined): boolean {
  return isJsonObject(schema) && isJsonObject(schema.not) && Object.keys(schema.not).length === 0;
}

/** Whether a schema has more than a name and a description. */
export function hasRules(schema: JsonObject): boolean {
  return Object.keys(schema).some((keyword) => !ANNOTATIONS.has(keyword));
}
