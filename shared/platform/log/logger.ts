import type { JsonValue } from "../values/json.ts";

/** A log line's severity. */
export type LogLevel = "debug" | "info" | "warn" | "error";

/** Writes one event. `fields` must not contain secrets, prompts or tool payloads. */
export type Logger = (
  level: LogLevel,
  event: string,
  fields?: { readonly [key: string]: JsonValue | undefined },
) => void;

/**
 * Creates a logger that writes one JSON object per line: `{"at","level","source","event",…fields}`.
 *
 * @param source The source of the events, for example the edge function's name.
 */
export function createLogger(source: string): Logger {
  return (level, event, fields = {}) => {
    const line = JSON.stringify({ at: new Date().toISOString(), level, source, event, ...fields });
    // The only code that writes to the console, which is the log of edge functions.
    // deno-lint-ignore no-console
    console[level](line);
  };
}
