import type { JsonValue } from "../../shared/json.ts";
import type { LogLevel } from "../../shared/log/logger.ts";

/** One line of a function's log, ready for `JSON.stringify`. */
export interface FunctionLogLine {
  /** ISO 8601 time. */
  readonly at: string;
  readonly level: LogLevel;
  /** The function's name, or `edge-runtime` for the host's own lines. */
  readonly function: string;
  /** What was written, unless that was JSON: then its fields stand here themselves. */
  readonly message?: string;
  readonly [field: string]: JsonValue | undefined;
}

/** Where log lines go. */
export type FunctionLog = (line: FunctionLogLine) => void;

/**
 * Makes a log line of what a function wrote to its console. A JSON object is merged, its own time
 * and level winning; anything else is the message.
 */
export function toLogLine(name: string, level: LogLevel, text: string): FunctionLogLine {
  const base = { at: new Date().toISOString(), level, function: name };
  const fields = parseObject(text);
  return fields === null ? { ...base, message: text } : { ...base, ...fields, function: name };
}

function parseObject(text: string): Record<string, JsonValue> | null {
  if (!text.startsWith("{")) return null;
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
