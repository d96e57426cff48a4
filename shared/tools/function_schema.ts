import { SwarmError } from "../errors/swarm_error.ts";
import { asJsonObject, isJsonObject, type JsonObject, type JsonValue } from "../json.ts";

/** Deeper or larger schemas are refused: they are attacks or mistakes, and models cannot use them. */
const MAX_DEPTH = 32;
const MAX_SCHEMA_CHARACTERS = 100_000;
/** What Anthropic accepts as a property's name, the strictest of the three. */
const PROPERTY_NAME = /^[a-zA-Z0-9_.-]{1,64}$/;
/** Keywords that name or hold schemas for reference only; nothing refers to them afterwards. */
const REFERENCE_KEYWORDS: ReadonlySet<string> = new Set(
  ["$schema", "$id", "id", "$anchor", "$comment", "$defs", "definitions", "$vocabulary"],
);
/** Keywords whose value maps names to schemas, so that the names are not keywords. */
const SCHEMA_MAPS: ReadonlySet<string> = new Set(["properties", "patternProperties"]);
/** Keywords whose value is data. */
const DATA_KEYWORDS: ReadonlySet<string> = new Set([
  "enum",
  "const",
  "default",
  "examples",
  "required",
]);

/**
 * Turns a tool's JSON Schema into one that OpenAI, Anthropic and Gemini accept as the parameters
 * of a function: local references put in place, cycles cut, combinators at the root folded into
 * one object. Arguments are still validated against the original.
 *
 * @throws SwarmError `TOOL_CONFIG_INVALID` for a remote or dangling reference, a property name
 * that a provider refuses, or a schema that is too deep or too large.
 */
export function toFunctionSchema(original: JsonObject): JsonObject {
  const resolved = resolve(original, { root: original, open: [], depth: 0 });
  const root = foldRoot(isJsonObject(resolved) ? resolved : {});
  assertUsable(root);
  return root;
}

interface Place {
  readonly root: JsonObject;
  /** References being resolved, for finding cycles. */
  readonly open: readonly string[];
  readonly depth: number;
}

function resolve(schema: JsonValue, place: Place): JsonValue {
  if (schema === true) return {};
  if (!isJsonObject(schema)) return schema;
  if (place.depth > MAX_DEPTH) throw refused(`it is nested deeper than ${MAX_DEPTH} levels`);
  if (typeof schema.$ref === "string") return resolveReference(schema, schema.$ref, place);
  const deeper = { ...place, depth: place.depth + 1 };
  const entries = Object.entries(schema).flatMap(([keyword, value]): [string, JsonValue][] => {
    if (REFERENCE_KEYWORDS.has(keyword)) return [];
    if (DATA_KEYWORDS.has(keyword)) return [[keyword, value]];
    if (SCHEMA_MAPS.has(keyword) && isJsonObject(value)) {
      return [[keyword, mapValues(value, (item) => resolve(item, deeper))]];
    }
    if (Array.isArray(value)) {
      return [[keyword, value.map((item: JsonValue) => resolve(item, deeper))]];
    }
    return [[keyword, isJsonObject(value) ? resolve(value, deeper) : value]];
  });
  return Object.fromEntries(entries);
}

function resolveReference(schema: JsonObject, reference: string, place: Place): JsonValue {
  if (!reference.startsWith("#")) throw refused(`it refers to '${reference}', outside itself`);
  if (place.open.includes(reference)) {
    return { type: "object", description: `Nested again as described at ${reference}.` };
  }
  const target = findTarget(place.root, reference);
  const { $ref: _, ...beside } = schema;
  const inner = { ...place, open: [...place.open, reference], depth: place.depth + 1 };
  const found = resolve(target, inner);
  return isJsonObject(found) ? { ...found, ...asJsonObject(resolve(beside, inner)) } : found;
}

function findTarget(root: JsonObject, reference: string): JsonValue {
  let current: JsonValue | undefined = root;
  for (const part of reference.split("/").slice(1)) {
    const name = decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
    current = isJsonObject(current) && Object.hasOwn(current, name) ? current[name] : undefined;
  }
  if (current === undefined) throw refused(`it refers to '${reference}', which does not exist`);
  return current;
}

/** One object out of a root that may be a choice or a sum of several; the rule becomes text. */
function foldRoot(schema: JsonObject): JsonObject {
  const { anyOf, oneOf, allOf, not: _not, if: _if, then: _then, else: _else, required: _, ...own } =
    schema;
  const all = objectsOf(allOf).map(foldRoot);
  const choices = [...objectsOf(anyOf), ...objectsOf(oneOf)].map(foldRoot);
  const properties = Object.assign(
    {},
    ...[...choices, ...all].map((part) => asJsonObject(part.properties)),
    asJsonObject(own.properties),
  );
  const required = new Set([
    ...namesOf(schema.required),
    ...all.flatMap((p) => namesOf(p.required)),
  ]);
  for (const name of namesOf(choices[0]?.required)) {
    if (choices.every((choice) => namesOf(choice.required).includes(name))) required.add(name);
  }
  const rule = choices.length > 1 ? describeChoice(choices) : undefined;
  const description = [own.description, rule].filter((text) => typeof text === "string").join(" ");
  return {
    ...own,
    type: "object",
    properties,
    ...(required.size === 0 ? {} : { required: [...required] }),
    ...(description === "" ? {} : { description }),
  };
}

function describeChoice(choices: readonly JsonObject[]): string {
  const alternatives = choices.map((choice) => namesOf(choice.required).join(", ") || "none");
  return `Give one of these sets of arguments: ${alternatives.join("; or ")}.`;
}

function assertUsable(schema: JsonObject): void {
  const text = JSON.stringify(schema);
  if (text.length > MAX_SCHEMA_CHARACTERS) {
    throw refused(`it is larger than ${MAX_SCHEMA_CHARACTERS} characters`);
  }
  for (const name of propertyNames(schema)) {
    if (!PROPERTY_NAME.test(name)) throw refused(`no model accepts the property name '${name}'`);
  }
}

function* propertyNames(schema: JsonValue): Generator<string> {
  if (Array.isArray(schema)) {
    for (const item of schema) yield* propertyNames(item);
  }
  if (!isJsonObject(schema)) return;
  for (const [keyword, value] of Object.entries(schema)) {
    if (DATA_KEYWORDS.has(keyword)) continue;
    if (keyword === "properties" && isJsonObject(value)) {
      yield* Object.keys(value);
      for (const item of Object.values(value)) yield* propertyNames(item);
    } else {
      yield* propertyNames(value);
    }
  }
}

function objectsOf(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function namesOf(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.filter((name) => typeof name === "string") : [];
}

function mapValues(object: JsonObject, change: (value: JsonValue) => JsonValue): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));
}

function refused(reason: string): SwarmError {
  return new SwarmError("TOOL_CONFIG_INVALID", `Cannot offer the tool to a model: ${reason}`, {
    hint: "Ask the tool's maker for a self-contained JSON Schema of its arguments.",
  });
}
