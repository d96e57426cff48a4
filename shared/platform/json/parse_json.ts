import type { JsonValue } from "../values/json.ts";
import type { JsonExcess, JsonLimit, JsonLimits } from "./json_limits.ts";
import { JsonMeter } from "./json_meter.ts";

/** The result of parsing a text as JSON. */
export type ParsedJson =
  | { readonly kind: "json"; readonly value: JsonValue }
  | { readonly kind: "not_json"; readonly cause: unknown }
  | { readonly kind: "too_large"; readonly excess: JsonExcess };

/** Text is measured in parts of this many characters, so that it is never copied as a whole. */
const PIECE_CHARACTERS = 65_536;

/**
 * Parses untrusted JSON; all untrusted JSON goes through here. Bytes, depth, members and items are
 * counted first, in one pass without allocation, and a document that exceeds a limit is not parsed.
 */
export function parseJson(source: string | Uint8Array, limits: JsonLimits): ParsedJson {
  const excess = measureJson(source, limits);
  if (excess !== null) return { kind: "too_large", excess };
  const text = typeof source === "string" ? source : new TextDecoder().decode(source);
  try {
    return { kind: "json", value: JSON.parse(text) };
  } catch (cause) {
    return { kind: "not_json", cause };
  }
}

/** The first limit that a text exceeds; null if none. */
export function measureJson(source: string | Uint8Array, limits: JsonLimits): JsonExcess | null {
  const meter = new JsonMeter(limits);
  if (typeof source !== "string") return meter.feed(source);
  // Every character has at least one byte.
  if (source.length > limits.bytes) {
    return { limit: "bytes", allowed: limits.bytes, found: source.length };
  }
  const encoder = new TextEncoder();
  for (let start = 0; start < source.length; start += PIECE_CHARACTERS) {
    const excess = meter.feed(encoder.encode(source.slice(start, start + PIECE_CHARACTERS)));
    if (excess !== null) return excess;
  }
  return null;
}

/** The value, or undefined if the text is not JSON or exceeds the limits. */
export function parseJsonOrUndefined(
  source: string | Uint8Array,
  limits: JsonLimits,
): JsonValue | undefined {
  const parsed = parseJson(source, limits);
  return parsed.kind === "json" ? parsed.value : undefined;
}

const COUNTED: Readonly<Record<JsonLimit, (count: number) => string>> = {
  bytes: (count) => `more than ${count} bytes`,
  depth: (count) => `more than ${count} levels of nesting`,
  members: (count) => `more than ${count} members in its objects`,
  items: (count) => `more than ${count} items in its arrays`,
  digits: (count) => `a whole number of more than ${count} digits that programs round`,
  events: (count) => `more than ${count} events`,
  name_bytes: (count) => `a member name of more than ${count} bytes`,
};

/** A limit that was exceeded, as the end of a sentence: "it has more than 64 levels of nesting". */
export function describeExcess({ limit, allowed, found }: JsonExcess): string {
  return `it has ${COUNTED[limit](allowed)} (${found} were counted when reading stopped)`;
}
