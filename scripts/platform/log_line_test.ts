import assert from "node:assert/strict";
import { toText } from "./log_line.ts";

Deno.test("a log line for a person has its time, level, place and event before its fields", () => {
  const text = toText({
    at: "2026-11-22T10:11:12.345Z",
    level: "warn",
    source: "function",
    function: "supaswarm-worker",
    event: "task.failing",
    message: "The model is down",
    task: { id: 7 },
    absent: undefined,
  });

  assert.equal(
    text,
    '10:11:12.345 warn  supaswarm-worker task.failing message=The model is down task={"id":7}',
  );
});
