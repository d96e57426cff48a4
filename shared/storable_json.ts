import type { JsonValue } from "./json.ts";

/**
 * The value as Postgres can hold it: `jsonb` and `text` refuse the character NUL and halves of
 * surrogate pairs, which tools and models do send. Each becomes U+FFFD.
 */
export function toStorableJson(value: JsonValue): JsonValue {
  if (typeof value === "string") return toStorableText(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item: JsonValue) => toStorableJson(item));
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [toStorableText(key), toStorableJson(item)]),
  );
}

/** {@linkcode toStorableJson} for text. */
export function toStorableText(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\uFFFD");
}
