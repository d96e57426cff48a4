import assert from "node:assert/strict";
import { formatTable } from "./format_table.ts";

Deno.test("formatTable() aligns columns, shows null as an empty cell and JSON as JSON, and truncates long text", () => {
  const text = formatTable([
    { slug: "planner", config: { a: 1 }, note: null },
    { slug: "x", config: [], note: "line\nbreak" },
    { slug: "y", config: true, note: "n".repeat(200) },
  ]);

  const [head, rule, first, second, third] = text.split("\n");
  assert.equal(head, "slug    | config  | note");
  assert.equal(rule, `${"-".repeat(7)}-+-${"-".repeat(7)}-+-${"-".repeat(80)}`);
  assert.equal(first, 'planner | {"a":1} |');
  assert.equal(second, "x       | []      | line\\nbreak");
  assert.ok(third?.endsWith(`${"n".repeat(79)}…`));
});

Deno.test("formatTable() keeps long values whole where nothing is to be cut", () => {
  const text = formatTable([{ note: "x".repeat(500) }], Infinity);

  assert.ok(text.includes("x".repeat(500)));
});
