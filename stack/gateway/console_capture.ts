// deno-lint-ignore-file no-console -- this file replaces console methods
import { AsyncLocalStorage } from "node:async_hooks";
import { inspect } from "node:util";

type ConsoleMethod = "log" | "info" | "warn" | "error";
const METHODS: readonly ConsoleMethod[] = ["log", "info", "warn", "error"];

/** Captures the console output of a library. */
export interface ConsoleCapture {
  /** Runs `work` and passes its console output to `onText` instead of the console. */
  run<T>(onText: (text: string) => void, work: () => Promise<T>): Promise<T>;
  /** Restores the console's methods. */
  restore(): void;
}

/**
 * Captures the console, but only for work that runs through the capture.
 *
 * `@supabase/lite` prints every refused statement with its stack trace and has no setting to turn
 * this off. The stack logs one line for a failure and nothing for a refused statement.
 */
export function captureConsole(): ConsoleCapture {
  const listeners = new AsyncLocalStorage<(text: string) => void>();
  const original = new Map<ConsoleMethod, typeof console.log>();
  for (const method of METHODS) {
    const print = console[method];
    original.set(method, print);
    console[method] = (...values: unknown[]) => {
      const onText = listeners.getStore();
      if (onText === undefined) print.apply(console, values);
      else onText(values.map(toText).join(" "));
    };
  }
  return {
    run: (onText, work) => listeners.run(onText, work),
    restore: () => {
      for (const [method, print] of original) console[method] = print;
    },
  };
}

function toText(value: unknown): string {
  return typeof value === "string" ? value : inspect(value);
}
