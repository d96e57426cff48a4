import { fstatSync } from "node:fs";

/** Exit code of a process that was ended by Ctrl-C. */
export const INTERRUPTED_EXIT_CODE = 130;

/** By convention, 128 and the number of the signal. */
const EXIT_CODES = { SIGINT: INTERRUPTED_EXIT_CODE, SIGTERM: 143, SIGHUP: 129 } as const;

/** Windows has only that of Ctrl-C. */
const SIGNALS = Deno.build.os === "windows"
  ? ["SIGINT"] as const
  : ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Why a command ends before it is done: a signal, or the end of its stdin. */
export class Interruption extends Error {
  override readonly name = "Interruption";

  constructor(readonly exitCode: number) {
    super("The command was interrupted");
  }
}

/** When a serving command must end. */
export interface EndOfRun {
  /** Aborts on SIGINT, SIGTERM, SIGHUP and the end of a piped stdin, and after `fail()`. */
  readonly signal: AbortSignal;
  /** Resolves when the command is interrupted; rejects after {@linkcode EndOfRun.fail}. */
  readonly reached: Promise<void>;
  /** Ends the run with an error. */
  fail(error: Error): void;
}

/**
 * Watches for the end of a command that serves.
 *
 * The end of stdin counts only when stdin is a pipe or a socket, so that a parent process need not
 * clean up; the end of a terminal, a file or `/dev/null` is ignored.
 */
export function endOfRun(): EndOfRun {
  const ending = new AbortController();
  const { promise: reached, resolve, reject } = Promise.withResolvers<void>();
  reached.catch(() => {}); // Callers that await it get the error.
  const interrupt = (reason: Interruption) => {
    ending.abort(reason);
    resolve();
  };
  onSignal(interrupt);
  const end = () => interrupt(new Interruption(0));
  if (isStdinPiped()) readToEnd(Deno.stdin.readable).then(end, end);
  return {
    signal: ending.signal,
    reached,
    fail: (error) => {
      ending.abort(error);
      reject(error);
    },
  };
}

/** Returns a signal that aborts on SIGINT, SIGTERM and SIGHUP, with an {@linkcode Interruption}. */
export function interruptionSignal(): AbortSignal {
  const interrupted = new AbortController();
  onSignal((reason) => interrupted.abort(reason));
  return interrupted.signal;
}

/** Handles the first signal. The second one ends the process immediately. */
function onSignal(handle: (reason: Interruption) => void): void {
  let isInterrupted = false;
  for (const name of SIGNALS) {
    Deno.addSignalListener(name, () => {
      if (isInterrupted) Deno.exit(EXIT_CODES[name]);
      isInterrupted = true;
      handle(new Interruption(EXIT_CODES[name]));
    });
  }
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
