import { format } from "node:util";
import type { LogLevel } from "../../shared/platform/log/logger.ts";

/** Maximum length of a log line in characters, as on the hosted platform. */
const MAX_TEXT_LENGTH = 10_000;

/** Receives one console call. */
export type ConsoleSink = (level: LogLevel, text: string) => void;

const LEVEL_OF_METHOD = {
  trace: "debug",
  debug: "debug",
  log: "info",
  info: "info",
  warn: "warn",
  error: "error",
} as const;

/** Sends the console output of the function's code to `sink`. */
export function captureConsole(sink: ConsoleSink): void {
  const write = (level: LogLevel) => (...args: unknown[]) =>
    sink(level, format(...args).slice(0, MAX_TEXT_LENGTH));
  for (const [method, level] of Object.entries(LEVEL_OF_METHOD)) {
    Object.assign(console, { [method]: write(level) });
  }
}
