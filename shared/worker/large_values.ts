import { byteLength } from "../byte_length.ts";
import { SwarmError } from "../errors/swarm_error.ts";
import type { JsonObject, JsonValue } from "../json.ts";

/** Outputs and tool results above this go to Storage; what read them gets their head. */
export const MAX_INLINE_BYTES = 32 * 1024;
/** Values of intermediate data above this go to Storage. */
export const MAX_DATA_BYTES = 64 * 1024;
/** Nothing above this is kept at all. */
const MAX_STORED_BYTES = 5 * 1024 * 1024;
/** How much of a stored value is passed on: enough to go on with, far below what was too large. */
const HEAD_CHARS = 12_000;

/** What stands where a large value was. */
export interface StorageReference extends JsonObject {
  readonly storage_path: string;
  readonly bytes: number;
  readonly head: string;
}

/** A value as text: as it is, or as JSON. */
export function textOf(value: JsonValue): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/**
 * The reference to a text that is stored under `path`.
 *
 * @throws OUTPUT_TOO_LARGE when the text is too large to be stored.
 */
export function referenceTo(path: string, text: string): StorageReference {
  const bytes = byteLength(text);
  if (bytes > MAX_STORED_BYTES) {
    throw new SwarmError(
      "OUTPUT_TOO_LARGE",
      `Cannot keep a value of ${bytes} bytes: the limit is ${MAX_STORED_BYTES}`,
      { hint: "Keep less, or split the value into several." },
    );
  }
  return { storage_path: path, bytes, head: headOf(text) };
}

/** A stored text's head, and where the rest is, for a model to read. */
export function headText({ head, bytes, storage_path }: StorageReference): string {
  return `${head}\n[cut here: all ${bytes} bytes are stored at ${storage_path}]`;
}

/** The first part of a text that is too large to be passed on. */
export function headOf(text: string): string {
  const head = text.slice(0, HEAD_CHARS);
  // Half an emoji is no text.
  return head.isWellFormed() ? head : head.slice(0, -1);
}
