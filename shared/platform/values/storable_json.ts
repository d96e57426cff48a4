import type { JsonValue } from "./json.ts";

/**
 * The value in a form that PostgreSQL can store: `jsonb` and `text` reject the NUL character and
 * lone surrogates, which tools and models do send. Each becomes U+FFFD.
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
