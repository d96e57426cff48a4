import { asJsonObject, type JsonObject, type JsonValue } from "../../platform/values/json.ts";
import type { ConversionPlace, Dialect } from "./convert_schema.ts";
import { foldSchema } from "./fold_root.ts";
import { withItems } from "./openai_dialect.ts";
import { isNever, listedValues, namesIn, typesOf } from "./schema_keywords.ts";
import { distribute } from "./simplify.ts";
import { splitTypes } from "./split_types.ts";

/** The part of JSON Schema that Gemini reads in `parametersJsonSchema`. */
const KEYWORDS: ReadonlySet<string> = new Set([
  "type",
  "title",
  "description",
  "enum",
  "items",
  "prefixItems",
  "minItems",
  "maxItems",
  "minimum",
  "maximum",
  "anyOf",
  "properties",
  "additionalProperties",
  "required",
]);

const FORMATS: ReadonlySet<JsonValue> = new Set([
  "date-time",
  "date",
  "time",
  "int32",
  "int64",
  "float",
  "double",
]);

/** Gemini's part of JSON Schema. */
export const geminiDialect: Dialect = {
  propertyName: /^[a-zA-Z_][a-zA-Z0-9_]{0,63}$/,
  isStrict: false,
  prepare: (schema, place) =>
    [withoutSums, withOneChoice, withSingleTypes, withLists, withBounds, withItems, withDeclared]
      .reduce((current, step) => step(current, place), schema),
  takes: (keyword, value) => {
    if (keyword === "format") return FORMATS.has(value);
    if (keyword !== "enum") return KEYWORDS.has(keyword);
    // The documentation also has numbers, but the API refuses the whole request for one of them, and
    // for a text that is empty.
    const values: readonly JsonValue[] = Array.isArray(value) ? value : [];
    return values.length > 0 && values.every((item) => typeof item === "string" && item !== "");
  },
};

/**
 * A sum that could not be merged exactly: keeping its properties is more important than closing it.
 */
function withoutSums(schema: JsonObject, place: ConversionPlace): JsonObject {
  const isObject = typesOf(schema).includes("object") || schema.properties !== undefined;
  if (schema.allOf === undefined || !isObject) return schema;
  place.report({ path: place.path, keyword: "allOf", action: "widened" });
  return foldSchema(schema);
}

/** `oneOf` as `anyOf`, alone in its schema. */
function withOneChoice(schema: JsonObject, place: ConversionPlace): JsonObject {
  const { oneOf, ...rest } = schema;
  const isOnly = oneOf !== undefined && rest.anyOf === undefined;
  if (isOnly) place.report({ path: place.path, keyword: "oneOf", action: "widened" });
  const chosen = isOnly ? { ...rest, anyOf: oneOf } : schema;
  const alone = distribute(chosen);
  if (alone !== undefined) return alone;
  place.report({ path: place.path, keyword: "anyOf", action: "widened" });
  if (typesOf(chosen).includes("object")) return foldSchema(chosen);
  const { anyOf: _, ...others } = chosen;
  return others;
}

function withSingleTypes(schema: JsonObject): JsonObject {
  return splitTypes(schema, listedValues(schema) === undefined);
}

/** One text as a list, and whole numbers without a gap, of which the API takes no list, as bounds. */
function withLists(schema: JsonObject): JsonObject {
  const { const: only, enum: _, ...rest } = schema;
  if (typeof only === "string") return { ...rest, enum: [only] };
  const values = listedValues(schema)?.filter((value) => typeof value === "number") ?? [];
  const [minimum, maximum] = [Math.min(...values), Math.max(...values)];
  const isRange = values.length > 0 && values.length === listedValues(schema)?.length &&
    values.every(Number.isInteger) && new Set(values).size === maximum - minimum + 1;
  const isBounded = Object.keys(rest).some((keyword) => /m(in|ax)imum$/i.test(keyword));
  return isRange && !isBounded ? { ...rest, type: "integer", minimum, maximum } : schema;
}

function withBounds(schema: JsonObject): JsonObject {
  if (schema.type !== "integer") return schema;
  const { exclusiveMinimum: above, exclusiveMaximum: below, ...rest } = schema;
  const minimum = [rest.minimum, typeof above === "number" ? Math.floor(above) + 1 : undefined]
    .filter((bound) => typeof bound === "number");
  const maximum = [rest.maximum, typeof below === "number" ? Math.ceil(below) - 1 : undefined]
    .filter((bound) => typeof bound === "number");
  return {
    ...rest,
    ...(minimum.length === 0 ? {} : { minimum: Math.max(...minimum) }),
    ...(maximum.length === 0 ? {} : { maximum: Math.min(...maximum) }),
  };
}

/** Every required property is declared, and no declared property is impossible. */
function withDeclared(schema: JsonObject, place: ConversionPlace): JsonObject {
  if (!typesOf(schema).includes("object")) return schema;
  const properties = new Map(Object.entries(asJsonObject(schema.properties)));
  for (const [name, value] of properties) {
    if (!isNever(value)) continue;
    if (schema.additionalProperties !== false) {
      place.report({ path: place.path, keyword: "properties", action: "widened" });
    }
    properties.delete(name);
  }
  for (const name of namesIn(schema.required)) {
    if (properties.has(name)) continue;
    const { additionalProperties: rest = true } = schema;
    if (rest === false) {
      place.report({ path: place.path, keyword: "required", action: "widened" });
    }
    properties.set(name, asJsonObject(rest));
  }
  const isSame = schema.properties === undefined && properties.size === 0;
  return isSame ? schema : { ...schema, properties: Object.fromEntries(properties) };
}
