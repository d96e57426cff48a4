import type { JsonValue } from "../json.ts";

/** A log line's severity. */
export type LogLevel = "debug" | "info" | "warn" | "error";

/** Writes one event. `fields` never hold secrets, prompts or tool payloads. */
export type Logger = (
  level: LogLevel,
  event: string,
  fields?: { readonly [key: string]: JsonValue | undefined },
) => void;

/**
 * Makes a logger that writes one JSON object a line: `{"at","level","source","event",…fields}`.
 *
 * @param source Who logs, for example the edge function's name.
 */
export function createLogger(source: string): Logger {
  return (level, event, fields = {}) => {
    const line = JSON.stringify({ at: new Date().toISOString(), level, source, event, ...fields });
    // The one place that writes to the console: edge logs are what goes there.
    // deno-lint-ignore no-console
    console[level](line);
  };
}
