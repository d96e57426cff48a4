import { byteLength } from "../../platform/values/byte_length.ts";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import type { JsonObject, JsonValue } from "../../platform/values/json.ts";

/** Larger outputs and tool results are moved to Storage; readers get their head. */
export const MAX_INLINE_BYTES = 32 * 1024;
/** Larger values of intermediate data are moved to Storage. */
export const MAX_DATA_BYTES = 64 * 1024;
/** Larger values are rejected. */
const MAX_STORED_BYTES = 5 * 1024 * 1024;
/** Length of a stored value's head: enough to continue with, far below the limit. */
const HEAD_CHARS = 12_000;

/** The replacement of a large value. */
export interface StorageReference extends JsonObject {
  readonly storage_path: string;
  readonly bytes: number;
  readonly head: string;
}

/** A value as text: strings unchanged, others as JSON. */
export function jsonTextOf(value: JsonValue): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/**
 * Creates the reference to a text that is stored at `path`.
 *
 * @throws OUTPUT_TOO_LARGE if the text is too large to store.
 */
export function referenceTo(path: string, text: string): StorageReference {
  const bytes = byteLength(text);
  if (bytes > MAX_STORED_BYTES) {
    throw new SwarmError(
      "OUTPUT_TOO_LARGE",
      `Cannot store a value of ${bytes} bytes: the limit is ${MAX_STORED_BYTES}`,
      { hint: "Store less, or split the value into several." },
    );
  }
  return { storage_path: path, bytes, head: headOf(text) };
}

/** A stored text's head and the path of the full text, for a model. */
export function headText({ head, bytes, storage_path }: StorageReference): string {
  return `${head}\n[cut here: all ${bytes} bytes are stored at ${storage_path}]`;
}

/** The first part of a text that is too large to pass on. */
export function headOf(text: string): string {
  const head = text.slice(0, HEAD_CHARS);
  // A lone surrogate is not valid text.
  return head.isWellFormed() ? head : head.slice(0, -1);
}
