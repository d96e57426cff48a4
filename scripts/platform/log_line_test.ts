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

Deno.test("a log line for people has time, level, source and event before its fields", () => {
  assert.equal(
    formatLogLine(LINE),
    '10:11:12.345 warn  supaswarm-worker task.failing message=The model is down task={"id":7}',
  );
});
