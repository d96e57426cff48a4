import { isJsonObject, type JsonObject, type JsonValue } from "../../platform/values/json.ts";

const MAX_PROPERTIES = 5_000;
const MAX_LEVELS = 10;
const MAX_VALUES = 1_000;
const MAX_NAME_CHARACTERS = 120_000;
/** Maximum characters of a list with more than {@linkcode LONG_LIST} values. */
const MAX_LONG_LIST_CHARACTERS = 15_000;
const LONG_LIST = 250;

/** The keyword with which a schema exceeds the limits of OpenAI's strict mode, if any. */
export function exceededStrictLimit(schema: JsonObject): string | undefined {
  const sums = { properties: 0, values: 0, characters: 0, isListTooLong: false, levels: 0 };
  measure(schema, 0, sums);
  if (sums.levels > MAX_LEVELS) return "items";
  if (sums.values > MAX_VALUES || sums.isListTooLong) return "enum";
  const isTooWide = sums.properties > MAX_PROPERTIES || sums.characters > MAX_NAME_CHARACTERS;
  return isTooWide ? "properties" : undefined;
}

interface Sums {
  properties: number;
  values: number;
  characters: number;
  isListTooLong: boolean;
  levels: number;
}

function measure(schema: JsonValue, level: number, sums: Sums): void {
  if (!isJsonObject(schema)) return;
  sums.levels = Math.max(sums.levels, level);
  const { properties, items, anyOf } = schema;
  const values: readonly JsonValue[] = Array.isArray(schema.enum) ? schema.enum : [];
  const length = JSON.stringify([...values, schema.const ?? null]).length;
  sums.values += values.length;
  sums.characters += length;
  sums.isListTooLong ||= values.length > LONG_LIST && length > MAX_LONG_LIST_CHARACTERS;
  if (isJsonObject(properties)) {
    for (const [name, property] of Object.entries(properties)) {
      sums.properties++;
      sums.characters += name.length;
      measure(property, level + 1, sums);
    }
  }
  if (items !== undefined) measure(items, level + 1, sums);
  if (Array.isArray(anyOf)) {
    for (const option of anyOf) measure(option, level, sums);
  }
}
