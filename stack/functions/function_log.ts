import type { JsonValue } from "../../shared/platform/values/json.ts";
import type { LogLevel } from "../../shared/platform/log/logger.ts";

/** One line of a function's log, ready for `JSON.stringify`. */
export interface FunctionLogLine {
  /** ISO 8601 time. */
  readonly at: string;
  readonly level: LogLevel;
  /** The function's name, or `edge-runtime` for lines of the host. */
  readonly function: string;
  /** The text. If the text is a JSON object, the line has the object's fields instead. */
  readonly message?: string;
  readonly [field: string]: JsonValue | undefined;
}

/** Receives log lines. */
export type FunctionLog = (line: FunctionLogLine) => void;

/**
 * Creates a log line from a function's console output. The fields of a JSON object are merged into
 * the line and override its time and level. Any other text becomes the message.
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
