import type { JsonValue } from "../../shared/platform/values/json.ts";
import { dim, red, writeError, yellow } from "../terminal.ts";

type LogLine = Readonly<Record<string, JsonValue | undefined>>;

/** Fields at the start of a line, which are not repeated as `name=value`. */
const PLACED = new Set(["at", "level", "source", "function", "event"]);

/** Writes a log line to stderr: text on a terminal, one line of JSON in a pipe. */
export function writeLogLine(line: LogLine): void {
  writeError(formatLogLine(line, { isTerminal: Deno.stderr.isTerminal() }));
}

/** Formats a log line: text for a terminal, JSON for a pipe. */
export function formatLogLine(
  line: LogLine,
  { isTerminal }: { readonly isTerminal: boolean },
): string {
  return isTerminal ? toText(line) : JSON.stringify(line);
}

/** Formats a log line as text: time, level, source, event, then the other fields. */
function toText(line: LogLine): string {
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
