// deno-lint-ignore-file no-console -- this file is about the console
import { AsyncLocalStorage } from "node:async_hooks";
import { inspect } from "node:util";

type ConsoleMethod = "log" | "info" | "warn" | "error";
const METHODS: readonly ConsoleMethod[] = ["log", "info", "warn", "error"];

/** Collects what a library prints while it works for us. */
export interface ConsoleCapture {
  /** Runs `work`; what it prints goes to `onText` instead of the console. */
  run<T>(onText: (text: string) => void, work: () => Promise<T>): Promise<T>;
  /** Gives the console back its own methods. */
  restore(): void;
}

/**
 * Takes over the console for work that is run through the capture, and only for that.
 *
 * `@supabase/lite` prints every refused statement with its stack trace and has no setting
 * against it; the stack logs one line for what fails and nothing for what is refused.
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
