import { isJsonObject, type JsonValue } from "../json.ts";

/** The longest text that a trace repeats of what a provider's own tool read or printed. */
const MAX_TEXT_CHARS = 2_000;
const MAX_ITEMS = 20;

/** A value as a trace tells of it: long texts and lists cut, encrypted content left out. */
export function toTraceable(value: JsonValue): JsonValue {
  if (typeof value === "string") {
    return value.length > MAX_TEXT_CHARS ? `${value.slice(0, MAX_TEXT_CHARS)} …` : value;
  }
  if (Array.isArray(value)) return value.slice(0, MAX_ITEMS).map(toTraceable);
  if (!isJsonObject(value)) return value;
  const kept = Object.entries(value).filter(([key]) => !key.startsWith("encrypted"));
  return Object.fromEntries(
    kept.slice(0, MAX_ITEMS).map(([key, item]) => [key, toTraceable(item)]),
  );
}
