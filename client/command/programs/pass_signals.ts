import type { ChildProcess } from "node:child_process";
import { constants } from "node:os";
import process from "node:process";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** By convention, 128 and the number of the signal. */
export function exitCodeOf(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}

/** Passes the signals that would end this process to its child, which decides when both end. */
export function passSignals(child: ChildProcess): void {
  for (const signal of SIGNALS) process.on(signal, () => child.kill(signal));
}

/** Ends this process at a signal, with its child, until the returned function is called. */
export function endTogether(child: ChildProcess): () => void {
  const end = (signal: NodeJS.Signals) => {
    child.kill();
    process.exit(exitCodeOf(signal));
  };
  for (const signal of SIGNALS) process.on(signal, end);
  return () => {
    for (const signal of SIGNALS) process.off(signal, end);
  };
}
