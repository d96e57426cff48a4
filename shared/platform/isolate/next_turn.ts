import { setImmediate } from "node:timers";

/** Resolves when everything has run that waits neither for I/O nor for a timer. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
