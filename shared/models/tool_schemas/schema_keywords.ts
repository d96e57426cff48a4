import { isJsonObject, type JsonObject, type JsonValue } from "../../platform/values/json.ts";

/** The kind of a keyword's value. */
export type KeywordForm =
  | "schema"
  | "schema_or_boolean"
  | "schema_list"
  | "schema_map"
  | "plain";

/** A form of values, in words that complete the sentence "it must be …". */
interface Rule {
  readonly isValid: (value: JsonValue) => boolean;
  readonly wanted: string;
}

/** What a keyword may have as its value. */
export interface Keyword extends Rule {
  readonly form: KeywordForm;
}

const isText = (value: JsonValue) => typeof value === "string";
const isNumber = (value: JsonValue) => typeof value === "number" && Number.isFinite(value);
const isCount = (value: JsonValue) => Number.isInteger(value) && Number(value) >= 0;
const isSchema = (value: JsonValue) => typeof value === "boolean" || isJsonObject(value);
const isSchemaList = (value: JsonValue) =>
  Array.isArray(value) && value.length > 0 && value.every(isSchema);
const isMapOf = (isItem: (value: JsonValue) => boolean) => (value: JsonValue) =>
  isJsonObject(value) && Object.values(value).every(isItem);
const isNames = (value: JsonValue) => Array.isArray(value) && value.every(isText);

const rule = (wanted: string, isValid: Rule["isValid"]): Rule => ({ wanted, isValid });
const SCHEMA = rule("a schema", isSchema);
const TEXT = rule("a text", isText);
const NUMBER = rule("a number", isNumber);
const SCHEMAS_BY_NAME = rule("an object with a schema for each name", isMapOf(isSchema));
const COUNT = rule("a whole number of zero or more", isCount);

function keywords(
  form: KeywordForm,
  { isValid, wanted }: Rule,
  ...names: string[]
): [string, Keyword][] {
  return names.map((name) => [name, { form, isValid, wanted }]);
}

/** Every keyword of JSON Schema 2020-12 that is relevant to a tool's arguments. */
export const KEYWORDS: ReadonlyMap<string, Keyword> = new Map([
  ...keywords("schema", SCHEMA, "not", "if", "then", "else", "contains", "propertyNames"),
  ...keywords("schema_or_boolean", SCHEMA, "items", "additionalProperties"),
  ...keywords("schema_or_boolean", SCHEMA, "unevaluatedItems", "unevaluatedProperties"),
  ...keywords(
    "schema_list",
    rule("a list of at least one schema", isSchemaList),
    ...["anyOf", "oneOf", "allOf", "prefixItems"],
  ),
  ...keywords("schema_map", SCHEMAS_BY_NAME, "properties", "dependentSchemas"),
  ...keywords(
    "schema_map",
    rule("an object with a schema for each regular expression", isPatternMap),
    "patternProperties",
  ),
  ...keywords("plain", rule("one of the seven types, or a list of them", isType), "type"),
  ...keywords("plain", COUNT, "minLength", "maxLength", "minItems", "maxItems"),
  ...keywords("plain", COUNT, "minProperties", "maxProperties", "minContains", "maxContains"),
  ...keywords("plain", NUMBER, "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
  ...keywords(
    "plain",
    rule("a number above zero", (value) => isNumber(value) && Number(value) > 0),
    "multipleOf",
  ),
  ...keywords("plain", TEXT, "title", "description", "format"),
  ...keywords("plain", TEXT, "contentEncoding", "contentMediaType"),
  ...keywords("plain", rule("a regular expression", isPattern), "pattern"),
  ...keywords(
    "plain",
    rule("a list of at least one value", (value) => Array.isArray(value) && value.length > 0),
    "enum",
  ),
  ...keywords("plain", rule("a list", (value) => Array.isArray(value)), "examples"),
  ...keywords("plain", rule("a value", () => true), "const", "default"),
  ...keywords("plain", rule("the list of the required names", isNames), "required"),
  ...keywords(
    "plain",
    rule("an object with a list of names for each name", isMapOf(isNames)),
    "dependentRequired",
  ),
  ...keywords(
    "plain",
    rule("true or false", (value) => typeof value === "boolean"),
    "uniqueItems",
  ),
]);

/**
 * The keywords that a whole schema can have, also of earlier drafts. Whether a regular expression is
 * usable is not a question of its form.
 */
export const ALL_KEYWORDS: ReadonlyMap<string, Keyword> = new Map([
  ...KEYWORDS,
  ...keywords("schema_map", SCHEMAS_BY_NAME, "$defs", "definitions", "patternProperties"),
  ...keywords("schema_or_boolean", SCHEMA, "additionalItems"),
  ...keywords("plain", TEXT, "$ref", "pattern"),
  ...keywords(
    "schema_map",
    rule(
      "an object with a schema or a list of names for each name",
      isMapOf((value) => isSchema(value) || isNames(value)),
    ),
    "dependencies",
  ),
]);

/** `items` of earlier drafts, which draft 2020-12 calls `prefixItems`. */
export const LIST_OF_ITEMS: Keyword = {
  form: "schema_list",
  ...rule("a list of schemas", (value) => Array.isArray(value) && value.every(isSchema)),
};

/** `exclusiveMinimum` and `exclusiveMaximum` of draft 4. */
export const DRAFT_4_BOUND: Keyword = {
  form: "plain",
  ...rule("true or false in draft 4", (value) => typeof value === "boolean"),
};

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
