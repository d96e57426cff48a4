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
