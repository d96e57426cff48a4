import { fstatSync } from "node:fs";

/** Exit code of a process that was ended by Ctrl-C. */
export const INTERRUPTED_EXIT_CODE = 130;

/** When a serving command must end. */
export interface EndOfRun {
  /**
   * Resolves on SIGINT, SIGTERM or the end of a piped stdin; rejects after {@linkcode
   * EndOfRun.fail}.
   */
  readonly reached: Promise<void>;
  /** Ends the run with an error. */
  fail(error: Error): void;
}

/**
 * Watches for the end of a command that serves. A second Ctrl-C ends the process immediately.
 *
 * The end of stdin counts only when stdin is a pipe or a socket, so that a parent process need not
 * clean up; the end of a terminal, a file or `/dev/null` is ignored.
 */
export function endOfRun(): EndOfRun {
  const { promise: reached, resolve, reject } = Promise.withResolvers<void>();
  reached.catch(() => {}); // Callers that await it get the error.
  let isInterrupted = false;
  Deno.addSignalListener("SIGINT", () => {
    if (isInterrupted) Deno.exit(INTERRUPTED_EXIT_CODE);
    isInterrupted = true;
    resolve();
  });
  Deno.addSignalListener("SIGTERM", () => resolve());
  if (isStdinPiped()) readToEnd(Deno.stdin.readable).then(() => resolve(), () => resolve());
  return { reached, fail: reject };
}

function isStdinPiped(): boolean {
  try {
    const stdin = fstatSync(0);
    return stdin.isFIFO() || stdin.isSocket();
  } catch {
    // The process has no stdin.
    return false;
  }
}

async function readToEnd(stream: ReadableStream<Uint8Array>): Promise<void> {
  for await (const _chunk of stream) {
    // Ignore the content.
  }
}
