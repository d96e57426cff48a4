import {
  asJsonObject,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "../../../shared/platform/values/json.ts";

/** A number from 0 up to, but not including, 1. */
export type Random = () => number;

/** Random numbers that are the same for the same seed (mulberry32). */
export function createRandom(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/**
 * A value that probably matches a schema, or almost does: the caller checks it. References are
 * resolved in `root`.
 */
export function sampleValue(
  schema: JsonValue,
  root: JsonObject,
  random: Random,
  depth = 0,
): JsonValue {
  if (!isJsonObject(schema)) return 1;
  if (typeof schema.$ref === "string") {
    const target = schema.$ref.split("/").slice(1)
      .reduce<JsonValue>((value, name) => asJsonObject(value)[name] ?? {}, root);
    return sampleValue(target, root, random, depth + 1);
  }
  if (schema.const !== undefined) return schema.const;
  if (Array.isArray(schema.enum)) return pick(schema.enum, random);
  const own = sampleOwn(schema, root, random, depth);
  const parts = [
    ...list(schema.allOf),
    ...list(schema.anyOf).length > 0 ? [pick(list(schema.anyOf), random)] : [],
    ...list(schema.oneOf).length > 0 ? [pick(list(schema.oneOf), random)] : [],
  ].map((part) => sampleValue(part, root, random, depth + 1));
  if (parts.length === 0) return own ?? pick([1, "x", null, true, {}, []], random);
  const objects = [own, ...parts].filter(isJsonObject);
  if (objects.length === 0) return own ?? parts[0] ?? null;
  return Object.fromEntries(objects.flatMap((object) => Object.entries(object)));
}

function sampleOwn(
  schema: JsonObject,
  root: JsonObject,
  random: Random,
  depth: number,
): JsonValue | undefined {
  const type = Array.isArray(schema.type) ? pick(schema.type, random) : schema.type;
  switch (type) {
    case "string":
      return pick(["", "x", "abc", "2026-11-22", "a@b.example"], random);
    case "integer":
      return Math.floor(random() * 10);
    case "number":
      return Math.floor(random() * 20) / 2;
    case "boolean":
      return random() < 0.5;
    case "null":
      return null;
    case "array":
      return sampleArray(schema, root, random, depth);
    case "object":
      return sampleObject(schema, root, random, depth);
    default:
      return undefined;
  }
}

function sampleArray(
  schema: JsonObject,
  root: JsonObject,
  random: Random,
  depth: number,
): JsonValue {
  const prefix = list(schema.prefixItems);
  const rest = schema.items === false || depth > 6 ? 0 : Math.floor(random() * 3);
  return [
    ...prefix.map((item) => sampleValue(item, root, random, depth + 1)),
    ...Array.from({ length: rest }, () => sampleValue(schema.items ?? {}, root, random, depth + 1)),
  ];
}

function sampleObject(
  schema: JsonObject,
  root: JsonObject,
  random: Random,
  depth: number,
): JsonValue {
  const required = list(schema.required);
  const members = Object.entries(asJsonObject(schema.properties))
    .filter(([name]) => required.includes(name) || (depth < 6 && random() < 0.5))
    .map(([name, inner]) => [name, sampleValue(inner, root, random, depth + 1)] as const);
  const { additionalProperties: rest } = schema;
  const others = isJsonObject(rest) && random() < 0.5
    ? [["other", sampleValue(rest, root, random, depth + 1)] as const]
    : [];
  return Object.fromEntries([...members, ...others]);
}

function list(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

function pick(values: readonly JsonValue[], random: Random): JsonValue {
  return values[Math.floor(random() * values.length)] ?? null;
}
