import { isDeepStrictEqual } from "node:util";
import {
  asJsonObject,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "../../platform/values/json.ts";
import { mergeSchemas } from "./merge_schemas.ts";
import {
  ANNOTATIONS,
  hasRules,
  isNever,
  listedValues,
  namesIn,
  schemasIn,
  typesOf,
} from "./schema_keywords.ts";
import { ownMember } from "../../platform/values/own_member.ts";

/** Keywords that depend on adjacent keywords, which therefore must not be moved. */
const COMBINATORS: readonly string[] = [
  "allOf",
  "anyOf",
  "oneOf",
  "not",
  "if",
  "then",
  "else",
  "dependentSchemas",
];

/**
 * The same schema with fewer combinators: sums are merged where that is exact, choices with one
 * option are inlined, `oneOf` becomes `anyOf` if no value matches two options, and implied types
 * are added. Expects the schemas inside to be simplified already.
 */
export function simplify(schema: JsonObject): JsonObject {
  return withType(withItems(withoutUnevaluated(takeOnlyChoice(toAnyOf(mergeSum(schema))))));
}

function mergeSum(schema: JsonObject): JsonObject {
  if (schema.allOf === undefined) return schema;
  const { allOf, ...own } = schema;
  let merged: JsonObject = own;
  const left: JsonObject[] = [];
  for (const part of schemasIn(allOf)) {
    const both = mergeSchemas(merged, part);
    if (both === undefined) left.push(part);
    else merged = both;
  }
  const nested = schemasIn(merged.allOf);
  const { allOf: _, ...rest } = merged;
  const parts = [...nested, ...left];
  return parts.length === 0 ? rest : { ...rest, allOf: parts };
}

function toAnyOf(schema: JsonObject): JsonObject {
  const { oneOf, ...rest } = schema;
  if (oneOf === undefined || rest.anyOf !== undefined) return schema;
  const options = schemasIn(oneOf).filter((option) => !isNever(option));
  const isExclusive = options.every((option, index) =>
    options.slice(index + 1).every((other) => areDisjoint(option, other))
  );
  return isExclusive && options.length > 0 ? { ...rest, anyOf: options } : schema;
}

function takeOnlyChoice(schema: JsonObject): JsonObject {
  const { anyOf, ...rest } = schema;
  const options = schemasIn(anyOf).flatMap((option) => {
    const isPlainChoice = option.anyOf !== undefined && Object.keys(option).length === 1;
    return isPlainChoice ? schemasIn(option.anyOf) : [option];
  }).filter((option) => !isNever(option));
  const [only, ...others] = options;
  if (only === undefined) return schema;
  const merged = others.length === 0 ? mergeSchemas(rest, only) : undefined;
  return merged ?? { ...rest, anyOf: options };
}

/** Without combinators, unevaluated means additional. */
function withoutUnevaluated(schema: JsonObject): JsonObject {
  if (COMBINATORS.some((keyword) => schema[keyword] !== undefined)) return schema;
  const { unevaluatedProperties, unevaluatedItems, ...rest } = schema;
  const isMoot = unevaluatedItems === undefined || rest.items !== undefined;
  const keepsItems = !isMoot && rest.contains !== undefined;
  return {
    ...rest,
    ...(unevaluatedProperties === undefined || rest.additionalProperties !== undefined
      ? {}
      : { additionalProperties: unevaluatedProperties }),
    ...(isMoot ? {} : { [keepsItems ? "unevaluatedItems" : "items"]: unevaluatedItems }),
  };
}

/** Boolean `items` can be expressed as `maxItems`. */
function withItems(schema: JsonObject): JsonObject {
  const { items, ...rest } = schema;
  if (items === true) return rest;
  if (items !== false) return schema;
  const length = schemasIn(rest.prefixItems).length;
  const { maxItems = length } = rest;
  return { ...rest, maxItems: Math.min(Number(maxItems), length) };
}

function withType(schema: JsonObject): JsonObject {
  if (schema.type !== undefined) return schema;
  const values = listedValues(schema);
  if (values !== undefined) {
    const found = new Set(values.map(typeOf));
    if (found.has("number")) found.delete("integer");
    const [only, ...others] = found;
    return { type: only === undefined || others.length > 0 ? [...found] : only, ...schema };
  }
  if (schema.properties !== undefined) return { type: "object", ...schema };
  if (schema.items !== undefined || schema.prefixItems !== undefined) {
    return { type: "array", ...schema };
  }
  return schema;
}

/** The type of JSON Schema that a value has. */
export function typeOf(value: JsonValue): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (isJsonObject(value)) return "object";
  return Number.isInteger(value) ? "integer" : typeof value;
}

/** Whether certainly no value matches both. */
function areDisjoint(first: JsonObject, second: JsonObject): boolean {
  const [types, others] = [typesOf(first).map(broad), typesOf(second).map(broad)];
  if (types.length > 0 && others.length > 0 && !types.some((type) => others.includes(type))) {
    return true;
  }
  if (haveOtherValues(first, second)) return true;
  const shared = namesIn(first.required).filter((name) => namesIn(second.required).includes(name));
  return types.join() === "object" && others.join() === "object" &&
    shared.some((name) =>
      haveOtherValues(
        asJsonObject(ownMember(asJsonObject(first.properties), name)),
        asJsonObject(ownMember(asJsonObject(second.properties), name)),
      )
    );
}

function broad(type: string): string {
  return type === "integer" ? "number" : type;
}

function haveOtherValues(first: JsonObject, second: JsonObject): boolean {
  const others = listedValues(second);
  return others !== undefined &&
    (listedValues(first)?.every((value) =>
      !others.some((other) => isDeepStrictEqual(value, other))
    ) ?? false);
}

/**
 * Moves the rules next to a choice into each option. Undefined if that is not exact.
 */
export function distribute(schema: JsonObject): JsonObject | undefined {
  const { anyOf, ...own } = schema;
  if (anyOf === undefined || !hasRules(own)) return schema;
  const about = Object.entries(own).filter(([keyword]) => ANNOTATIONS.has(keyword));
  const rules = Object.entries(own).filter(([keyword]) => !ANNOTATIONS.has(keyword));
  const options: JsonObject[] = [];
  for (const option of schemasIn(anyOf)) {
    const merged = mergeSchemas(option, Object.fromEntries(rules));
    if (merged === undefined) return undefined;
    options.push(simplify(merged));
  }
  return { ...Object.fromEntries(about), anyOf: options };
}
