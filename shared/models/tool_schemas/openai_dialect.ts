import { asJsonObject, type JsonObject, type JsonValue } from "../../platform/values/json.ts";
import type { ConversionPlace, Dialect } from "./convert_schema.ts";
import { hasRules, isNever, listedValues, namesIn, typesOf } from "./schema_keywords.ts";
import { distribute } from "./simplify.ts";
import { splitTypes } from "./split_types.ts";

/** Property names that OpenAI and Anthropic accept. */
export const PROPERTY_NAME = /^[a-zA-Z0-9_.-]{1,64}$/;

/** OpenAI without strict mode: any JSON Schema, but arrays need `items`. */
export const openAiDialect: Dialect = {
  propertyName: PROPERTY_NAME,
  isStrict: false,
  prepare: withItems,
  takes: () => true,
};

/** Adds the `items` that OpenAI and Gemini require for every array. */
export function withItems(schema: JsonObject): JsonObject {
  const isArray = typesOf(schema).includes("array");
  return isArray && schema.items === undefined ? { ...schema, items: {} } : schema;
}

/** OpenAI's strict mode: it enforces what it can express while the model writes. */
export const openAiStrictDialect: Dialect = {
  propertyName: PROPERTY_NAME,
  isStrict: true,
  prepare: prepareStrict,
  takes: takesStrict,
};

function prepareStrict(source: JsonObject, place: ConversionPlace): JsonObject {
  const { path } = place;
  const schema = distribute(splitTypes(source, true));
  if (schema === undefined) {
    place.block("anyOf", path);
    return source;
  }
  const types = typesOf(schema);
  if (types.length === 0 && schema.anyOf === undefined) {
    const [keyword = "type"] = hasRules(schema) ? Object.keys(schema) : [];
    place.block(keyword, path);
  }
  const scalars = listedValues(schema)?.every((value) =>
    typeof value !== "object" || value === null
  );
  if (scalars === false) place.block("enum", path);
  if (types.includes("array") && Object.keys(asJsonObject(schema.items)).length === 0) {
    place.block("items", path);
  }
  return types.includes("object") ? prepareObject(schema, place) : schema;
}

/** Strict objects are closed: an object that is open on purpose cannot be expressed. */
function prepareObject(schema: JsonObject, { path, block }: ConversionPlace): JsonObject {
  const { additionalProperties: rest } = schema;
  const properties = Object.entries(asJsonObject(schema.properties));
  const required = namesIn(schema.required);
  const isRoot = path === "$" && schema.properties !== undefined;
  const isClosed = rest === false || (rest === undefined && (properties.length > 0 || isRoot));
  if (!isClosed) block("additionalProperties", path);
  const possible = properties.filter(([, value]) => !isNever(value));
  if (required.some((name) => !possible.some(([known]) => known === name))) block("required", path);
  return { ...schema, properties: Object.fromEntries(possible) };
}

const STRICT_KEYWORDS: ReadonlySet<string> = new Set([
  "type",
  "title",
  "description",
  "enum",
  "const",
  "properties",
  "required",
  "additionalProperties",
  "items",
  "anyOf",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "minItems",
  "maxItems",
]);

const STRICT_FORMATS: ReadonlySet<JsonValue> = new Set([
  "date-time",
  "time",
  "date",
  "duration",
  "email",
  "hostname",
  "ipv4",
  "ipv6",
  "uuid",
]);

/**
 * Keywords that are useless as text for a model, so the whole schema is sent without strict mode.
 */
const STRUCTURAL: ReadonlySet<string> = new Set([
  "oneOf",
  "allOf",
  "not",
  "if",
  "then",
  "else",
  "prefixItems",
  "patternProperties",
  "propertyNames",
  "dependentRequired",
  "dependentSchemas",
  "contains",
  "minContains",
  "maxContains",
  "unevaluatedItems",
  "unevaluatedProperties",
]);

function takesStrict(keyword: string, value: JsonValue, place: ConversionPlace): boolean {
  if (STRUCTURAL.has(keyword)) place.block(keyword, place.path);
  if (keyword === "format") return STRICT_FORMATS.has(value);
  if (keyword === "pattern") return isSimplePattern(String(value));
  return STRICT_KEYWORDS.has(keyword);
}

/** Without lookarounds, backreferences and Unicode classes, which strict mode rejects. */
function isSimplePattern(pattern: string): boolean {
  return !/\(\?(?!:)|\\[1-9pPkbB]/.test(pattern);
}
