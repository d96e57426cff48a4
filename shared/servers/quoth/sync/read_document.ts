import type { ErrorBody } from "../../../platform/errors/swarm_error.ts";
import { SwarmError } from "../../../platform/errors/swarm_error.ts";

/** Larger files are not documentation for people, and splitting one would take too long. */
export const MAX_DOCUMENT_BYTES = 1_048_576;

/**
 * The exact text of a file: the byte order mark and line ends are unchanged.
 *
 * @throws FILE_NOT_TEXT if it is not UTF-8, or contains a NUL character like binary files.
 */
export function readDocument(bytes: Uint8Array): string {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw notText("it is not UTF-8", cause);
  }
  if (text.includes("\0")) throw notText("it has a NUL character, like binary files");
  return text;
}

/** The error for a file of this size. */
export function tooLargeError(sizeBytes: number): ErrorBody {
  return new SwarmError(
    "FILE_TOO_LARGE",
    `Cannot index the file: it has ${sizeBytes} bytes, more than ${MAX_DOCUMENT_BYTES}`,
    { hint: "Divide it, or exclude it with include_globs." },
  ).toBody();
}

function notText(problem: string, cause?: unknown): SwarmError {
  return new SwarmError("FILE_NOT_TEXT", `Cannot index the file: ${problem}`, {
    cause,
    hint: "Save it as UTF-8, or exclude it with include_globs.",
  });
}
