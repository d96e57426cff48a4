import {
  asJsonObject,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "../../platform/values/json.ts";
import { joinPath } from "../../platform/values/json_path.ts";
import { type ArgumentShape, type PropertyShape, SAME_SHAPE } from "./argument_shape.ts";
import { addRule, ruleText } from "./rule_text.ts";
import { ANNOTATIONS, listedValues, namesIn, schemasIn, typesOf } from "./schema_keywords.ts";
import type { ReportLoss } from "./schema_loss.ts";
import { definedOnly } from "../../platform/values/defined_only.ts";

/** The schema dialect of one provider. */
export interface Dialect {
  readonly propertyName: RegExp;
  /** Every object is closed, and optional arguments become required and nullable. */
  readonly isStrict: boolean;
  /** Rewrites the schema in the dialect's forms; changes only its own level. */
  prepare(schema: JsonObject, place: ConversionPlace): JsonObject;
  /** Whether a keyword is sent; otherwise its rule is added to the description. */
  takes(keyword: string, value: JsonValue, place: ConversionPlace): boolean;
}

/** The current position of a conversion in a tool's schema. */
export interface ConversionPlace {
  readonly dialect: Dialect;
  readonly path: string;
  /** Legal names of renamed properties by original name; the others keep theirs. */
  readonly renamed: ReadonlyMap<string, string>;
  readonly report: ReportLoss;
  /** Reports a keyword that the dialect cannot express. */
  readonly block: (keyword: string, path: string) => void;
}

/** A schema in a provider's form, with the mapping back. */
export interface Converted {
  readonly schema: JsonObject;
  readonly shape: ArgumentShape;
}

/** Converts a plain schema, and all schemas in it, into a dialect. */
export function convertSchema(source: JsonObject, place: ConversionPlace): Converted {
  const prepared = place.dialect.prepare(source, place);
  const { taken, dropped } = sortKeywords(prepared, place);
  for (const [keyword] of dropped) {
    place.report({ path: place.path, keyword, action: "described" });
  }
  const converted = convertKeywords(taken, place);
  const rule = describeDropped(dropped);
  if (rule === undefined) return converted;
  const description = addRule(converted.schema.description, rule);
  return { ...converted, schema: { ...converted.schema, description } };
}

type Entry = [keyword: string, value: JsonValue];

function sortKeywords(schema: JsonObject, place: ConversionPlace) {
  const renames = Object.keys(asJsonObject(schema.properties))
    .some((name) => place.renamed.has(name));
  const isTaken = ([keyword, value]: Entry): boolean => {
    // Patterns apply to the original property names.
    if (renames && /^(patternProperties|propertyNames)$/.test(keyword)) return false;
    return place.dialect.takes(keyword, value, place);
  };
  const entries = Object.entries(schema);
  const dropped = entries.filter((entry) => !isTaken(entry));
  const names = new Set(dropped.map(([keyword]) => keyword));
  // Without its patterns, a closed object would reject members that they allow.
  if (names.has("patternProperties") && schema.additionalProperties !== undefined) {
    names.add("additionalProperties");
    dropped.push(["additionalProperties", schema.additionalProperties]);
  }
  const taken = Object.fromEntries(entries.filter(([keyword]) => !names.has(keyword)));
  return { taken, dropped };
}

function describeDropped(dropped: readonly Entry[]): string | undefined {
  const rules = dropped.filter(([keyword]) => !ANNOTATIONS.has(keyword))
    .map(([keyword, value]) => `${keyword} ${ruleText(value)}`);
  const notes = dropped.filter(([keyword]) => ANNOTATIONS.has(keyword))
    .map(([keyword, value]) =>
      `${keyword === "default" ? "Default" : "Examples"}: ${ruleText(value)}.`
    );
  const sentences = [...(rules.length === 0 ? [] : [`Must match: ${rules.join("; ")}.`]), ...notes];
  return sentences.length === 0 ? undefined : sentences.join(" ");
}

/** A keyword's value in the provider's form, and its part of the shape. */
interface ConvertedValue {
  readonly value: JsonValue;
  readonly shape?: Partial<ArgumentShape>;
}

function convertKeywords(schema: JsonObject, place: ConversionPlace): Converted {
  const values = Object.entries(schema).map(([keyword, value]) =>
    [keyword, convertValue(keyword, value, schema, place)] as const
  );
  const result = Object.fromEntries(values.map(([keyword, { value }]) => [keyword, value]));
  return {
    schema: place.dialect.isStrict ? close(result) : result,
    shape: joinShapes(values.flatMap(([, { shape }]) => shape ?? [])),
  };
}

function joinShapes(shapes: readonly Partial<ArgumentShape>[]): ArgumentShape {
  if (shapes.length === 0) return SAME_SHAPE;
  return {
    properties: shapes.flatMap(({ properties = [] }) => properties),
    rest: shapes.flatMap(({ rest = [] }) => rest),
    prefix: shapes.flatMap(({ prefix = [] }) => prefix),
    items: shapes.flatMap(({ items = [] }) => items),
    parts: shapes.flatMap(({ parts = [] }) => parts),
    choices: shapes.flatMap(({ choices = [] }) => choices),
  };
}

function convertValue(
  keyword: string,
  value: JsonValue,
  schema: JsonObject,
  place: ConversionPlace,
): ConvertedValue {
  switch (keyword) {
    case "properties":
      return convertProperties(schema, place);
    case "required":
    case "dependentRequired":
      return convertNames(value, schema, place);
    case "dependentSchemas":
    case "patternProperties":
      return convertMap(keyword, value, place);
    case "additionalProperties":
    case "unevaluatedProperties":
      return convertOne(value, at(place, "*"), (shape) => ({ rest: [shape] }));
    case "items":
    case "unevaluatedItems":
      return convertOne(value, inItems(place), (shape) => ({ items: [shape] }));
    case "then":
    case "else":
      return convertOne(value, place, (shape) => ({ parts: [shape] }));
    case "if":
    case "not":
    case "propertyNames":
      return convertOne(value, place, () => ({}));
    case "contains":
      return convertOne(value, inItems(place), () => ({}));
    case "prefixItems":
    case "allOf":
    case "anyOf":
    case "oneOf":
      return convertList(keyword, schemasIn(value), place);
    default:
      return { value };
  }
}

function convertProperties(schema: JsonObject, place: ConversionPlace): ConvertedValue {
  const required = new Set(namesIn(schema.required));
  const properties: PropertyShape[] = [];
  const entries = Object.entries(asJsonObject(schema.properties)).map(([name, value]): Entry => {
    const inner = at(place, name);
    const provided = nameIn(place, name);
    const own = asJsonObject(value);
    const converted = convertSchema(own, inner);
    const isRequired = required.has(name);
    if (provided !== name) {
      place.report({ path: inner.path, keyword: "properties", action: "renamed" });
    }
    properties.push({ original: name, provided, isRequired, schema: own, shape: converted.shape });
    const named = provided === name ? converted.schema : withOwnName(converted.schema, name);
    const mustBeNullable = place.dialect.isStrict && !isRequired && !acceptsNull(named);
    return [provided, mustBeNullable ? orNull(named) : named];
  });
  return { value: Object.fromEntries(entries), shape: { properties } };
}

/** The tool's messages use the original name of the property. */
function withOwnName(schema: JsonObject, name: string): JsonObject {
  const rule = `The tool calls this ${ruleText(name)}.`;
  return { ...schema, description: addRule(schema.description, rule) };
}

/** `required` and `dependentRequired` may name undeclared properties; these are renamed as well. */
function convertNames(
  value: JsonValue,
  schema: JsonObject,
  place: ConversionPlace,
): ConvertedValue {
  const toNames = (names: JsonValue) => namesIn(names).map((name) => nameIn(place, name));
  const dependents = Object.entries(asJsonObject(value));
  const named = [
    ...namesIn(value),
    ...dependents.flatMap(([name, others]) => [name, ...namesIn(others)]),
  ];
  const declared = asJsonObject(schema.properties);
  const properties = named
    .filter((name) => place.renamed.has(name) && !Object.hasOwn(declared, name))
    .map((original): PropertyShape => {
      const provided = nameIn(place, original);
      return { original, provided, isRequired: true, schema: {}, shape: SAME_SHAPE };
    });
  return {
    value: Array.isArray(value) ? toNames(value) : Object.fromEntries(
      dependents.map(([name, others]) => [nameIn(place, name), toNames(others)]),
    ),
    shape: { properties },
  };
}

function convertMap(
  keyword: "dependentSchemas" | "patternProperties",
  value: JsonValue,
  place: ConversionPlace,
): ConvertedValue {
  const isDependent = keyword === "dependentSchemas";
  const inner = isDependent ? place : at(place, "*");
  const converted = Object.entries(asJsonObject(value)).map(([name, schema]) =>
    [
      isDependent ? nameIn(place, name) : name,
      convertSchema(asJsonObject(schema), inner),
    ] as const
  );
  const shapes = converted.map(([, { shape }]) => shape);
  return {
    value: Object.fromEntries(converted.map(([name, { schema }]) => [name, schema])),
    shape: isDependent ? { parts: shapes } : { rest: shapes },
  };
}

function convertOne(
  value: JsonValue,
  place: ConversionPlace,
  toShape: (shape: ArgumentShape) => Partial<ArgumentShape>,
): ConvertedValue {
  if (!isJsonObject(value)) return { value };
  const { schema, shape } = convertSchema(value, place);
  return { value: schema, shape: toShape(shape) };
}

function convertList(
  keyword: "prefixItems" | "allOf" | "anyOf" | "oneOf",
  list: readonly JsonObject[],
  place: ConversionPlace,
): ConvertedValue {
  const isTuple = keyword === "prefixItems";
  const options = list.map((original, index) => {
    const inner = isTuple ? at(place, String(index)) : place;
    const { schema: provided, shape } = convertSchema(original, inner);
    return { original, provided, shape };
  });
  const value = options.map(({ provided }) => provided);
  const shapes = options.map(({ shape }) => shape);
  if (isTuple) return { value, shape: { prefix: shapes } };
  return { value, shape: keyword === "allOf" ? { parts: shapes } : { choices: [options] } };
}

function close(schema: JsonObject): JsonObject {
  if (schema.type !== "object" && !namesIn(schema.type).includes("object")) return schema;
  const properties = asJsonObject(schema.properties);
  return {
    ...schema,
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
  };
}

function nameIn({ renamed }: ConversionPlace, name: string): string {
  return renamed.get(name) ?? name;
}

function at(place: ConversionPlace, name: string): ConversionPlace {
  return { ...place, path: name === "*" ? `${place.path}.*` : joinPath(place.path, name) };
}

function inItems(place: ConversionPlace): ConversionPlace {
  return { ...place, path: `${place.path}[*]` };
}

/** Whether a schema explicitly accepts null. */
export function acceptsNull(schema: JsonObject): boolean {
  if (schema.anyOf !== undefined) return schemasIn(schema.anyOf).some(acceptsNull);
  const values = listedValues(schema);
  return typesOf(schema).includes("null") && (values === undefined || values.includes(null));
}

/** The same schema, but also accepting null. */
function orNull(schema: JsonObject): JsonObject {
  const { description, anyOf, ...rules } = schema;
  const about = definedOnly({ description });
  if (anyOf !== undefined && Object.keys(rules).length === 0) {
    return { ...about, anyOf: [...schemasIn(anyOf), { type: "null" }] };
  }
  const { const: only, enum: _, ...rest } = rules;
  const isScalar = typeof rules.type === "string" && !["object", "array"].includes(rules.type);
  if (!isScalar || anyOf !== undefined) {
    const { description: __, ...whole } = schema;
    return { ...about, anyOf: [whole, { type: "null" }] };
  }
  const values = listedValues(only === undefined ? rules : { const: only });
  return {
    ...about,
    ...rest,
    type: [String(rules.type), "null"],
    ...(values === undefined ? {} : { enum: [...values, null] }),
  };
}
