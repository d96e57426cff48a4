import { isJsonObject, type JsonObject, type JsonValue } from "../json.ts";
import { type PatternCost, patternCost } from "./pattern_cost.ts";
import { isPattern } from "./schema_keywords.ts";

/** Maximum steps for matching the patterns of a schema, at most a twentieth of a second. */
const MAX_STEPS = 5_000_000;
/** Keywords that hold schemas by name. */
const SCHEMAS_BY_NAME: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "$defs",
  "definitions",
  "dependentSchemas",
]);
/** Keywords that hold values. */
const VALUES: ReadonlySet<string> = new Set(["const", "enum", "default", "examples"]);
/** Keywords that may reject more when their subschemas reject less. */
const REVERSING: ReadonlySet<string> = new Set(["not", "if", "oneOf", "contains"]);
/** Keywords about names that no pattern has matched. */
const REMAINING: ReadonlySet<string> = new Set([
  "additionalProperties",
  "unevaluatedProperties",
]);

/**
 * The schema without the patterns that could take long to match against the texts of a value.
 * Patterns come from untrusted servers, and matching cannot be interrupted. The server must apply
 * the dropped patterns itself. Whatever matches the schema also matches the rest of it.
 */
export function withoutCostlyPatterns(schema: JsonObject, value: JsonValue): JsonObject {
  const patterns = costsOf(schema);
  if (patterns.length === 0) return schema;
  const lengths = [...textLengths(value)];
  if (lengths.length === 0) return schema;
  let stepsLeft = MAX_STEPS;
  const costly = new Set<string>();
  for (const { pattern, cost } of patterns) {
    const steps = stepsOf(cost, lengths);
    if (steps <= stepsLeft) stepsLeft -= steps;
    else costly.add(pattern);
  }
  return costly.size === 0 ? schema : reduce(schema, costly);
}

interface SchemaPattern {
  readonly pattern: string;
  readonly cost: PatternCost | null;
}

const knownCosts = new WeakMap<JsonObject, readonly SchemaPattern[]>();

/** The patterns of a schema; an invalid regular expression counts as too costly. */
function costsOf(schema: JsonObject): readonly SchemaPattern[] {
  const known = knownCosts.get(schema);
  if (known !== undefined) return known;
  const costs = [...patternsOf(schema)].map((pattern) => ({
    pattern,
    cost: isPattern(pattern) ? patternCost(pattern) : null,
  }));
  knownCosts.set(schema, costs);
  return costs;
}

function stepsOf(cost: PatternCost | null, lengths: readonly number[]): number {
  if (cost === null) return Infinity;
  return lengths.reduce((sum, length) => sum + cost.factor * length ** cost.degree, 0);
}

function* textLengths(value: JsonValue): Generator<number> {
  if (typeof value === "string") yield value.length + 1;
  if (typeof value !== "object" || value === null) return;
  if (!Array.isArray(value)) { for (const name of Object.keys(value)) yield name.length + 1; }
  for (const item of Object.values(value)) yield* textLengths(item);
}

/** Every pattern, as often as it occurs. */
function* patternsOf(schema: JsonValue): Generator<string> {
  if (typeof schema !== "object" || schema === null) return;
  if (isJsonObject(schema)) {
    if (typeof schema.pattern === "string") yield schema.pattern;
    if (isJsonObject(schema.patternProperties)) yield* Object.keys(schema.patternProperties);
  }
  for (const item of Object.values(schema)) yield* patternsOf(item);
}

function reduce(schema: JsonObject, costly: ReadonlySet<string>): JsonObject {
  const names = isJsonObject(schema.patternProperties) ? schema.patternProperties : {};
  const hasCostlyName = Object.keys(names).some((name) => costly.has(name));
  const isDropped = (keyword: string, held: JsonValue) =>
    keyword === "pattern" && typeof held === "string" && costly.has(held) ||
    REVERSING.has(keyword) && isTainted(held, costly) ||
    hasCostlyName && (REMAINING.has(keyword) || keyword === "patternProperties");
  const reduceHeld = (keyword: string, held: JsonValue): JsonValue => {
    if (VALUES.has(keyword)) return held;
    if (Array.isArray(held)) return held.map((item: JsonValue) => reduceHeld("", item));
    if (!isJsonObject(held)) return held;
    if (!SCHEMAS_BY_NAME.has(keyword)) return reduce(held, costly);
    return Object.fromEntries(
      Object.entries(held).map(([name, item]) => [name, reduceHeld("", item)]),
    );
  };
  return Object.fromEntries(
    Object.entries(schema).filter(([keyword, held]) => !isDropped(keyword, held))
      .map(([keyword, held]) => [keyword, reduceHeld(keyword, held)]),
  );
}

/** Whether it contains a costly pattern, directly or possibly through a reference. */
function isTainted(schema: JsonValue, costly: ReadonlySet<string>): boolean {
  if (typeof schema !== "object" || schema === null) return false;
  const keywords = Object.keys(schema);
  return keywords.some((keyword) => /^\$(dynamic|recursive)?ref$/i.test(keyword)) ||
    [...patternsOf(schema)].some((pattern) => costly.has(pattern)) ||
    Object.values(schema).some((item) => isTainted(item, costly));
}
