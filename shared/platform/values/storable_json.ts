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

/**
 * The path of the first text or key with the character U+0000, such as `arguments.params.0`; null if
 * there is none. Callers refuse it in what people and programs write, because a replaced character
 * would be stored silently.
 */
export function pathOfNul(value: JsonValue): string | null {
  if (typeof value === "string") return value.includes("\0") ? "" : null;
  if (typeof value !== "object" || value === null) return null;
  for (const [key, item] of Object.entries(value)) {
    const name = toStorableText(key);
    if (key.includes("\0")) return name;
    const path = pathOfNul(item);
    if (path !== null) return path === "" ? name : `${name}.${path}`;
  }
  return null;
}
