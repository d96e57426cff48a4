import assert from "node:assert/strict";
import { formatLogLine } from "./log_line.ts";

const LINE = {
  at: "2026-11-22T10:11:12.345Z",
  level: "warn",
  source: "function",
  function: "supaswarm-worker",
  event: "task.failing",
  message: "The model is down",
  task: { id: 7 },
  absent: undefined,
};

Deno.test("a log line on a terminal has time, level, source and event before its fields", () => {
  assert.equal(
    formatLogLine(LINE, { isTerminal: true }),
    '10:11:12.345 warn  supaswarm-worker task.failing message=The model is down task={"id":7}',
  );
});

Deno.test("a log line in a pipe is one line of JSON with every field", () => {
  const text = formatLogLine(LINE, { isTerminal: false });
  const { absent: _, ...present } = LINE;

  assert.ok(!text.includes("\n"));
  assert.deepEqual(JSON.parse(text), present);
});
