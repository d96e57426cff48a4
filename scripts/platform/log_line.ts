import type { JsonValue } from "../../shared/platform/values/json.ts";
import { dim, red, writeError, yellow } from "../terminal.ts";

type LogLine = Readonly<Record<string, JsonValue | undefined>>;

/** Fields at the start of a line, which are not repeated as `name=value`. */
const PLACED = new Set(["at", "level", "source", "function", "event"]);

/** Writes log lines to stderr: as text for people, or as lines of JSON for programs. */
export function logWriter(
  { isForProgram }: { readonly isForProgram: boolean },
): (line: LogLine) => void {
  const format: (line: LogLine) => string = isForProgram ? JSON.stringify : formatLogLine;
  return (line) => writeError(format(line));
}

/** Formats a log line as text: time, level, source, event, then the other fields. */
export function formatLogLine(line: LogLine): string {
  const { at, level, source, function: name, event } = line;
  const time = typeof at === "string" ? at.slice(11, 23) : "";
  const fields = Object.entries(line)
    .filter(([key, value]) => !PLACED.has(key) && value !== undefined && value !== null)
    .map(([key, value]) => `${key}=${typeof value === "string" ? value : JSON.stringify(value)}`);
  return [
    dim(time, Deno.stderr),
    paint(String(level ?? "info")),
    String(name ?? source ?? ""),
    String(event ?? ""),
    ...fields,
  ].filter((part) => part !== "").join(" ");
}

function paint(level: string): string {
  const text = level.padEnd(5);
  if (level === "error") return red(text, Deno.stderr);
  if (level === "warn") return yellow(text, Deno.stderr);
  return text;
}
