// The logger writes to the console.
// deno-lint-ignore-file no-console
import assert from "node:assert/strict";
import { createLogger, LOG_LEVELS, type LogLevel } from "./logger.ts";

/** What a logger of this level writes to the console, of one line at each level. */
function written(leastLevel: LogLevel | undefined): readonly string[] {
  const lines: string[] = [];
  const originals = LOG_LEVELS.map((level) => [level, console[level]] as const);
  for (const level of LOG_LEVELS) console[level] = (line: string) => void lines.push(line);
  try {
    const log = leastLevel === undefined ? createLogger("test") : createLogger("test", leastLevel);
    log("debug", "tool.retried", { tool: "look" });
    log("info", "worker.listening");
    log("warn", "queue.stalled");
    log("error", "worker.failed");
  } finally {
    for (const [level, write] of originals) console[level] = write;
  }
  return lines.map((line) => JSON.parse(line).level);
}

Deno.test("createLogger() writes lines from its level on, and no debugging by default", () => {
  assert.deepEqual(written(undefined), ["info", "warn", "error"]);
  for (const [index, level] of LOG_LEVELS.entries()) {
    assert.deepEqual(written(level), LOG_LEVELS.slice(index));
  }
});
