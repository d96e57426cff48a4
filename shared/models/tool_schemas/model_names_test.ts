import assert from "node:assert/strict";
import { modelNames } from "./model_names.ts";

const LEGAL = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/;

Deno.test("modelNames() joins server and tool", () => {
  assert.deepEqual(modelNames([{ server: "files", toolName: "read_file" }]), ["files__read_file"]);
});

Deno.test("modelNames() converts every name to a legal one", () => {
  const names = modelNames([
    { server: "9to5", toolName: "enhance_prompt@1" },
    { server: "s", toolName: "ünïcode.tool/with spaces" },
    { server: "s", toolName: "x".repeat(100) },
  ]);

  for (const name of names) assert.match(name, LEGAL);
});

Deno.test("modelNames() keeps colliding names distinct, in any order", () => {
  const tools = [
    { server: "s", toolName: "a.b" },
    { server: "s", toolName: "a_b" },
    { server: "s", toolName: `${"x".repeat(70)}1` },
    { server: "s", toolName: `${"x".repeat(70)}2` },
  ];

  const names = modelNames(tools);

  assert.equal(new Set(names).size, tools.length);
  assert.deepEqual(modelNames(tools.toReversed()).toReversed(), names);
});
