import assert from "node:assert/strict";
import { effectsInCore, misdirectedImports, misdirectedStackImports } from "./import_direction.ts";

Deno.test("misdirectedImports() accepts imports of lower layers", () => {
  const problems = misdirectedImports([
    { path: "shared/worker/loop.ts", imports: ["shared/agent/decide.ts"] },
    { path: "shared/agent/decide.ts", imports: ["shared/llm/model_port.ts", "shared/json.ts"] },
    { path: "shared/llm/model_port.ts", imports: [] },
    { path: "shared/json.ts", imports: [] },
  ]);

  assert.deepEqual(problems, []);
});

Deno.test("misdirectedImports() reports an import from the core to an adapter", () => {
  const problems = misdirectedImports([
    { path: "shared/agent/decide.ts", imports: ["shared/db/sql_client.ts"] },
  ]);

  assert.deepEqual(problems, [
    "shared/agent/decide.ts (core) imports shared/db/sql_client.ts (adapters)",
  ]);
});

Deno.test("misdirectedImports() reports a cycle", () => {
  const problems = misdirectedImports([
    { path: "shared/db/a.ts", imports: ["shared/db/b.ts"] },
    { path: "shared/db/b.ts", imports: ["shared/db/a.ts"] },
  ]);

  assert.deepEqual(problems, [
    "Import cycle: shared/db/a.ts → shared/db/b.ts → shared/db/a.ts",
  ]);
});

Deno.test("misdirectedImports() reports a folder without a layer", () => {
  assert.deepEqual(misdirectedImports([{ path: "shared/misc/x.ts", imports: [] }]), [
    "shared/misc/x.ts belongs to no layer",
  ]);
});

Deno.test("effectsInCore() finds a clock in the core, but not in its comments or elsewhere", () => {
  assert.equal(effectsInCore("shared/agent/x.ts", "const now = Date.now();").length, 1);
  assert.equal(effectsInCore("shared/agent/x.ts", "// Date.now() is a port").length, 0);
  assert.equal(effectsInCore("shared/worker/x.ts", "const now = Date.now();").length, 0);
});

Deno.test("misdirectedImports() reports two folders that import each other", () => {
  const problems = misdirectedImports([
    { path: "shared/db/a.ts", imports: ["shared/http/b.ts"] },
    { path: "shared/http/b.ts", imports: [] },
    { path: "shared/http/c.ts", imports: ["shared/db/d.ts"] },
    { path: "shared/db/d.ts", imports: [] },
  ]);

  assert.deepEqual(problems, ["Import cycle: shared/db → shared/http → shared/db"]);
});

Deno.test("misdirectedImports() prevents tools from importing the code that serves them", () => {
  const problems = misdirectedImports([
    { path: "shared/tools/relay.ts", imports: ["shared/mcp/public_url.ts"] },
    { path: "shared/tools/listing/list_servers.ts", imports: ["shared/servers/quoth/server.ts"] },
    { path: "shared/mcp/public_url.ts", imports: [] },
    { path: "shared/servers/quoth/server.ts", imports: [] },
  ]);

  assert.deepEqual(problems, [
    "shared/tools/relay.ts (adapters) imports shared/mcp/public_url.ts (use cases)",
    "shared/tools/listing/list_servers.ts (adapters) imports shared/servers/quoth/server.ts " +
    "(use cases)",
  ]);
});

Deno.test("misdirectedStackImports() prevents the embedded Supabase from importing agents", () => {
  const problems = misdirectedStackImports([
    { path: "stack/stack.ts", imports: ["stack/keys/keys.ts", "shared/agent/decide.ts"] },
    { path: "stack/keys/keys.ts", imports: ["shared/json.ts", "scripts/demo/run_demo.ts"] },
    { path: "shared/json.ts", imports: [] },
  ]);

  assert.deepEqual(problems, [
    "stack/stack.ts (embedded Supabase) imports shared/agent/decide.ts",
    "stack/keys/keys.ts (embedded Supabase) imports scripts/demo/run_demo.ts",
  ]);
});

Deno.test("misdirectedStackImports() reports a cycle between its folders", () => {
  const problems = misdirectedStackImports([
    { path: "stack/keys/a.ts", imports: ["stack/gateway/b.ts"] },
    { path: "stack/gateway/b.ts", imports: ["stack/keys/c.ts"] },
    { path: "stack/keys/c.ts", imports: [] },
  ]);

  assert.deepEqual(problems, ["Import cycle: stack/keys → stack/gateway → stack/keys"]);
});
