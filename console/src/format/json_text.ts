import type { Json, JsonObject } from "../../../client/mod.ts";

export { readableJson } from "../../../client/json_text.ts";

/** Text that was parsed as JSON, or the parse error. */
export type JsonReading =
  | { readonly kind: "value"; readonly value: Json }
  | { readonly kind: "problem"; readonly message: string };

/** Parses JSON that a person writes. */
export function readJsonText(text: string): JsonReading {
  try {
    return { kind: "value", value: JSON.parse(text) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { kind: "problem", message: `This is not valid JSON: ${reason}` };
  }
}

/** Whether a value is an object, and no list. */
export function isJsonObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
