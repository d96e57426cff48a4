import assert from "node:assert/strict";
import { stripVTControlCharacters } from "node:util";
import type { JobEvent } from "../../client/mod.ts";
import { describe } from "./trace_view.ts";

function completed(data: JobEvent["data"]): string {
  const event = { id: 1, task_id: "t", type: "tool.completed", at: "", data } as JobEvent;
  return stripVTControlCharacters(describe(event) ?? "");
}

Deno.test("describe() names a tool with the beginning of its result", () => {
  const line = completed({ name: "files__read", text: `# Large\n${"word ".repeat(10_000)}` });

  assert.match(line, /^has +files__read: # Large word word.*…$/);
});

Deno.test("describe() says where a result is that was too large for its event", () => {
  assert.match(completed({}), /^has +a result: stored with its step$/);
});
