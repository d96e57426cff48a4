import type { ErrorBody } from "../../errors/swarm_error.ts";
import { SwarmError } from "../../errors/swarm_error.ts";

/** Larger files are no documentation that people read; splitting one would take too long. */
export const MAX_FILE_BYTES = 1_048_576;

/**
 * The text of a file, byte for byte: a byte order mark and line ends stay as they are.
 *
 * @throws FILE_NOT_TEXT when it is not UTF-8, or holds the character NUL as binary files do.
 */
export function readDocument(bytes: Uint8Array): string {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw notText("it is not UTF-8", cause);
  }
  if (text.includes("\0")) throw notText("it holds the character NUL, as binary files do");
  return text;
}

/** Why a file of that size is not indexed. */
export function tooLargeError(sizeBytes: number): ErrorBody {
  return new SwarmError(
    "FILE_TOO_LARGE",
    `Cannot index the file: it has ${sizeBytes} bytes, more than ${MAX_FILE_BYTES}`,
    { hint: "Divide it, or exclude it with include_globs." },
  ).toBody();
}

function notText(problem: string, cause?: unknown): SwarmError {
  return new SwarmError("FILE_NOT_TEXT", `Cannot index the file: ${problem}`, {
    cause,
    hint: "Save it as UTF-8, or exclude it with include_globs.",
  });
}
