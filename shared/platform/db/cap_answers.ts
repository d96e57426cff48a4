import type { Duplex } from "node:stream";
import { SwarmError } from "../errors/swarm_error.ts";

/** Limits what a connection receives. */
export interface AnswerCap {
  /** Bytes between two messages of the client. */
  readonly maxBytes: number;
  /** Called before the connection ends: the driver reports only that it was lost. */
  readonly onExcess: (error: SwarmError) => void;
}

/**
 * Ends a connection with `OUTPUT_TOO_LARGE` when the server sends more than the cap. The driver
 * collects a value, or an error that quotes one, before anything else sees it: a value of hundreds of
 * megabytes would end the isolate and all that runs in it.
 */
export function capAnswers(socket: Duplex, { maxBytes, onExcess }: AnswerCap): Duplex {
  let byteCount = 0;
  const write = socket.write.bind(socket) as (...args: unknown[]) => boolean;
  socket.write = (...args: unknown[]) => {
    byteCount = 0;
    return write(...args);
  };
  socket.on("data", (chunk: Uint8Array) => {
    byteCount += chunk.length;
    if (byteCount <= maxBytes || socket.destroyed) return;
    const error = answerTooLarge(maxBytes);
    onExcess(error);
    socket.destroy(error);
  });
  return socket;
}

function answerTooLarge(maxBytes: number): SwarmError {
  return new SwarmError(
    "OUTPUT_TOO_LARGE",
    `Cannot read the database's answer: it is larger than ${maxBytes} bytes`,
    { hint: "Nothing was changed. Select fewer rows, or less of long values with left()." },
  );
}
