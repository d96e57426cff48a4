import {
  asJsonObject,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "../../platform/values/json.ts";
import { DATA_KEYWORDS, namesIn } from "./schema_keywords.ts";
import { sha256Hex } from "../../platform/values/sha256_hex.ts";
import { withoutTrailing } from "../../platform/values/without_trailing.ts";

/** Leaves room for `_` and eight hex digits within the 64 characters that every provider allows. */
const MAX_HEAD_LENGTH = 55;

/** The names of all properties in a schema, each once and sorted. */
export function propertyNamesIn(schema: JsonObject): readonly string[] {
  return [...new Set(propertyNames(schema))].sort();
}

/**
 * A legal name for each property whose own name a provider rejects. The name is the same in every
 * part of the tool's schema; no two properties share one.
 *
 * @param names As from {@linkcode propertyNamesIn}.
 */
export function renameProperties(
  names: readonly string[],
  legal: RegExp,
): ReadonlyMap<string, string> {
  const taken = new Set(names.filter((name) => legal.test(name)));
  const renamed = new Map<string, string>();
  for (const name of names) {
    if (legal.test(name)) continue;
    const clean = toLegal(name);
    const isFree = name.length <= MAX_HEAD_LENGTH && clean !== "_" && !taken.has(clean);
    const given = isFree ? clean : `${clean}_${sha256Hex(name).slice(0, 8)}`;
    taken.add(given);
    renamed.set(name, given);
  }
  return renamed;
}

/** Legal for every provider: Gemini's first character is a letter or underscore. */
function toLegal(name: string): string {
  const plain = withoutTrailing(name.replace(/[^a-zA-Z0-9_]+/g, "_"), "_");
  const clean = plain.slice(0, MAX_HEAD_LENGTH);
  return /^[a-zA-Z_]/.test(clean) ? clean : `_${clean}`.slice(0, MAX_HEAD_LENGTH);
}

function* propertyNames(schema: JsonValue): Generator<string> {
  if (Array.isArray(schema)) {
    for (const item of schema) yield* propertyNames(item);
  }
  if (!isJsonObject(schema)) return;
  yield* namesIn(schema.required);
  for (const [keyword, value] of Object.entries(schema)) {
    if (DATA_KEYWORDS.has(keyword)) continue;
    if (keyword === "properties" || keyword === "dependentSchemas") {
      yield* Object.keys(asJsonObject(value));
      for (const item of Object.values(asJsonObject(value))) yield* propertyNames(item);
    } else if (keyword === "dependentRequired") {
      for (const [name, names] of Object.entries(asJsonObject(value))) {
        yield name;
        yield* namesIn(names);
      }
    } else if (keyword !== "required") {
      yield* propertyNames(value);
    }
  }
}
