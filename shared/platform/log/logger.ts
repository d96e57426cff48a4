import type { JsonValue } from "../values/json.ts";
import type { FieldOf, LevelOf, LogEvent } from "./log_events.ts";

/** The severities of log lines, the least first. */
export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;

/** A log line's severity. */
export type LogLevel = typeof LOG_LEVELS[number];

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
 * @param leastLevel The platform keeps 100 lines of a function in ten seconds, so that most lines are
 * only for somebody who looks for them.
 */
export function createLogger(source: string, leastLevel: LogLevel = "info"): Logger {
  const write: OpenLogger = (level, event, fields = {}) => {
    if (LOG_LEVELS.indexOf(level) < LOG_LEVELS.indexOf(leastLevel)) return;
    const line = JSON.stringify({ at: new Date().toISOString(), level, source, event, ...fields });
    // The only code that writes to the console, which is the log of edge functions.
    // deno-lint-ignore no-console
    console[level](line);
  };
  return write;
}
