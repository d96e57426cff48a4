import { ANSWER_LIMITS } from "../../platform/json/json_limits.ts";
import { parseJsonOrUndefined } from "../../platform/json/parse_json.ts";
import type { JsonValue } from "../../platform/values/json.ts";
import type { RawValue } from "./guarded_transaction.ts";

const DECODER = new TextDecoder();

const BOOLEAN = 16;
/** int8, int2, int4, oid, float4, float8, numeric. */
const NUMBERS: ReadonlySet<number> = new Set([20, 21, 23, 26, 700, 701, 1700]);
/** json, jsonb. */
const DOCUMENTS: ReadonlySet<number> = new Set([114, 3802]);

/**
 * Converts a value in PostgreSQL's text form to JSON: numbers that JSON represents exactly,
 * documents unchanged, everything else (times, large numbers, NaN, bytes, arrays) as text.
 *
 * @param type The column's OID.
 */
export function toJson(value: RawValue, type: number): JsonValue {
  if (value === null) return null;
  const text = DECODER.decode(value);
  if (type === BOOLEAN) return text === "t";
  if (NUMBERS.has(type)) {
    const number = Number(text);
    return Number.isFinite(number) && String(number) === text ? number : text;
  }
  if (DOCUMENTS.has(type)) return parseJsonOrUndefined(value, ANSWER_LIMITS) ?? text;
  return text;
}
