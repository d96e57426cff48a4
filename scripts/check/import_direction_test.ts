import assert from "node:assert/strict";
import { effectsInCore, misdirectedImports } from "./import_direction.ts";

Deno.test("misdirectedImports() accepts imports that go down", () => {
  const problems = misdirectedImports([
    { path: "shared/worker/loop.ts", imports: ["shared/agent/decide.ts"] },
    { path: "shared/agent/decide.ts", imports: ["shared/llm/model_port.ts", "shared/json.ts"] },
    { path: "shared/llm/model_port.ts", imports: [] },
    { path: "shared/json.ts", imports: [] },
  ]);

  assert.deepEqual(problems, []);
});

Deno.test("misdirectedImports() names an import from the core to an adapter", () => {
  const problems = misdirectedImports([
    { path: "shared/agent/decide.ts", imports: ["shared/db/sql_client.ts"] },
  ]);

  assert.deepEqual(problems, [
    "shared/agent/decide.ts (core) imports shared/db/sql_client.ts (adapters)",
  ]);
});

Deno.test("misdirectedImports() names a cycle", () => {
  const problems = misdirectedImports([
    { path: "shared/db/a.ts", imports: ["shared/db/b.ts"] },
    { path: "shared/db/b.ts", imports: ["shared/db/a.ts"] },
  ]);

  assert.deepEqual(problems, [
    "Imports go round: shared/db/a.ts → shared/db/b.ts → shared/db/a.ts",
  ]);
});

Deno.test("misdirectedImports() names a folder that has no layer", () => {
  assert.deepEqual(misdirectedImports([{ path: "shared/misc/x.ts", imports: [] }]), [
    "shared/misc/x.ts belongs to no layer",
  ]);
});

Deno.test("effectsInCore() finds a clock in the core, but not in its comments or elsewhere", () => {
  assert.equal(effectsInCore("shared/agent/x.ts", "const now = Date.now();").length, 1);
  assert.equal(effectsInCore("shared/agent/x.ts", "// Date.now() is a port").length, 0);
  assert.equal(effectsInCore("shared/worker/x.ts", "const now = Date.now();").length, 0);
});
