import type { JsonValue } from "../values/json.ts";
import type { FieldOf, LevelOf, LogEvent } from "./log_events.ts";

/** A log line's severity. */
export type LogLevel = "debug" | "info" | "warn" | "error";

/**
 * Writes one event of the catalog `LOG_EVENTS`. `fields` must not contain secrets, prompts or tool
 * payloads.
 */
export type Logger = <Event extends LogEvent>(
  level: LevelOf<Event>,
  event: Event,
  fields?: { readonly [Field in FieldOf<Event>]?: JsonValue | undefined },
) => void;

/** Writes one event of any name, as products with events of their own do. */
export type OpenLogger = (
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
  const write: OpenLogger = (level, event, fields = {}) => {
    const line = JSON.stringify({ at: new Date().toISOString(), level, source, event, ...fields });
    // The only code that writes to the console, which is the log of edge functions.
    // deno-lint-ignore no-console
    console[level](line);
  };
  return write;
}
