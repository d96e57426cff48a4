import { isDeepStrictEqual } from "node:util";
import {
  asJsonObject,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "../../platform/values/json.ts";
import { ANNOTATIONS, namesIn, typesOf } from "./schema_keywords.ts";

/** Keywords whose meaning depends on adjacent keywords. */
const CONTEXTUAL: readonly string[] = ["unevaluatedProperties", "unevaluatedItems", "contains"];
/** Keywords that form a group, so that only one side may have them. */
const CONDITION: readonly string[] = ["if", "then", "else"];
const TUPLE: readonly string[] = ["items", "prefixItems"];

/**
 * One schema that allows exactly what both allow; undefined if there is no simple one. Title,
 * description and default of `first` take precedence.
 */
export function mergeSchemas(first: JsonObject, second: JsonObject): JsonObject | undefined {
  if (!canMerge(first, second)) return undefined;
  const merged: Record<string, JsonValue> = { ...first };
  for (const [keyword, value] of Object.entries(second)) {
    const own = Object.hasOwn(merged, keyword) ? merged[keyword] : undefined;
    if (own === undefined) {
      merged[keyword] = value;
      continue;
    }
    if (ANNOTATIONS.has(keyword)) continue;
    const both = mergeValues(keyword, own, value);
    if (both === undefined) return undefined;
    merged[keyword] = both;
  }
  return merged;
}

function canMerge(first: JsonObject, second: JsonObject): boolean {
  const has = (schema: JsonObject, names: readonly string[]) =>
    names.some((name) => schema[name] !== undefined);
  if (has(second, CONTEXTUAL)) return false;
  if (has(first, CONDITION) && has(second, CONDITION)) return false;
  const hasTuple = first.prefixItems !== undefined || second.prefixItems !== undefined;
  if (hasTuple && has(first, TUPLE) && has(second, TUPLE)) return false;
  return leavesRest(first, second) && leavesRest(second, first);
}

/** Whether the rules of `schema` for other properties apply to none that only `other` declares. */
function leavesRest(schema: JsonObject, other: JsonObject): boolean {
  const { additionalProperties: rest } = schema;
  if (rest === undefined || rest === true) return true;
  if (schema.patternProperties !== undefined || other.patternProperties !== undefined) return false;
  const named = asJsonObject(schema.properties);
  return Object.keys(asJsonObject(other.properties)).every((name) => Object.hasOwn(named, name));
}

function mergeValues(keyword: string, first: JsonValue, second: JsonValue): JsonValue | undefined {
  switch (keyword) {
    case "required":
      return [...new Set([...namesIn(first), ...namesIn(second)])];
    case "properties":
      return mergeProperties(asJsonObject(first), asJsonObject(second));
    case "items":
    case "additionalProperties":
      return mergeRest(first, second);
    case "type":
      return mergeTypes(typesOf({ type: first }), typesOf({ type: second }));
    case "enum":
      return mergeLists(first, second);
    case "minimum":
    case "exclusiveMinimum":
    case "minLength":
    case "minItems":
    case "minProperties":
      return Math.max(Number(first), Number(second));
    case "maximum":
    case "exclusiveMaximum":
    case "maxLength":
    case "maxItems":
    case "maxProperties":
      return Math.min(Number(first), Number(second));
    default:
      return isDeepStrictEqual(first, second) ? first : undefined;
  }
}

function mergeProperties(first: JsonObject, second: JsonObject): JsonObject | undefined {
  const merged = new Map(Object.entries(first));
  for (const [name, schema] of Object.entries(second)) {
    const own = merged.get(name);
    const both = own === undefined ? schema : mergeSchemas(asJsonObject(own), asJsonObject(schema));
    if (both === undefined) return undefined;
    merged.set(name, both);
  }
  return Object.fromEntries(merged);
}

function mergeRest(first: JsonValue, second: JsonValue): JsonValue | undefined {
  if (first === false || second === false) return false;
  if (first === true) return second;
  if (second === true) return first;
  return isJsonObject(first) && isJsonObject(second) ? mergeSchemas(first, second) : undefined;
}

function mergeTypes(first: readonly string[], second: readonly string[]): JsonValue | undefined {
  const both = new Set(first.filter((type) => second.includes(type)));
  if (first.includes("number") && second.includes("integer")) both.add("integer");
  if (second.includes("number") && first.includes("integer")) both.add("integer");
  const [only, ...others] = both;
  return others.length === 0 ? only : [...both];
}

function mergeLists(first: JsonValue, second: JsonValue): JsonValue | undefined {
  if (!Array.isArray(first) || !Array.isArray(second)) return undefined;
  const both = first.filter((value: JsonValue) =>
    second.some((other: JsonValue) => isDeepStrictEqual(value, other))
  );
  return both.length === 0 ? undefined : both;
}
