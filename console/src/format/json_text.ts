import type { Json } from "../../../shared/db/database.types.ts";

/** A text that was read as JSON, or what is wrong with it. */
export type JsonReading =
  | { readonly kind: "value"; readonly value: Json }
  | { readonly kind: "problem"; readonly message: string };

/** Reads JSON that a person writes. */
export function readJsonText(text: string): JsonReading {
  try {
    return { kind: "value", value: JSON.parse(text) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { kind: "problem", message: `This is not JSON: ${reason}` };
  }
}

/** A value as indented JSON. */
export function prettyJson(value: unknown): string {
  return JSON.stringify(value, null, 2) ?? "";
}
