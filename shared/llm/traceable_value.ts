import { isJsonObject, type JsonValue } from "../json.ts";

/** Maximum length of a text from a provider's own tool in a trace. */
const MAX_TEXT_CHARS = 2_000;
const MAX_ITEMS = 20;

/**
 * A value as shown in a trace: long texts and lists are truncated, encrypted content is omitted.
 */
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
