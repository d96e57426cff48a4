import assert from "node:assert/strict";
import { closedSetsSource } from "./closed_sets.ts";

Deno.test("closedSetsSource() creates one tuple per column, grouped by table", () => {
  const source = closedSetsSource([
    {
      table_name: "tasks",
      column_name: "priority",
      definition: "CHECK ((priority = ANY (ARRAY['high'::text, 'it''s low'::text])))",
    },
    {
      table_name: "tasks",
      column_name: "status",
      definition: "CHECK ((status = ANY (ARRAY['pending'::text])))",
    },
  ]);

  assert.match(
    source,
    /tasks: \{\n {4}priority: \["high", "it's low"\],\n {4}status: \["pending"\],\n {2}\}/,
  );
});

Deno.test("closedSetsSource() reads the labels of an array literal", () => {
  const source = closedSetsSource([
    {
      table_name: "tasks",
      column_name: "status",
      definition: "CHECK ((status = ANY ('{pending,pending_subtask}'::text[])))",
    },
  ]);

  assert.match(source, /status: \["pending", "pending_subtask"\],/);
});
