import assert from "node:assert/strict";
import {
  effectsInCore,
  foreignImports,
  misdirectedImports,
  misdirectedStackImports,
} from "./import_direction.ts";

Deno.test("misdirectedImports() accepts imports of later wings", () => {
  const problems = misdirectedImports([
    { path: "shared/engine/worker/loop.ts", imports: ["shared/engine/agent/decide.ts"] },
    {
      path: "shared/engine/agent/decide.ts",
      imports: ["shared/models/llm/model_port.ts", "shared/platform/values/json.ts"],
    },
    { path: "shared/models/llm/model_port.ts", imports: [] },
    { path: "shared/platform/values/json.ts", imports: [] },
  ]);

  assert.deepEqual(problems, []);
});

Deno.test("misdirectedImports() reports an import from the core to an adapter", () => {
  const problems = misdirectedImports([
    { path: "shared/engine/agent/decide.ts", imports: ["shared/platform/db/sql_client.ts"] },
  ]);

  assert.deepEqual(problems, [
    "shared/engine/agent/decide.ts (core) imports shared/platform/db/sql_client.ts (adapter)",
  ]);
});

Deno.test("misdirectedImports() reports a cycle", () => {
  const problems = misdirectedImports([
    { path: "shared/platform/db/a.ts", imports: ["shared/platform/db/b.ts"] },
    { path: "shared/platform/db/b.ts", imports: ["shared/platform/db/a.ts"] },
  ]);

  assert.deepEqual(problems, [
    "Import cycle: shared/platform/db/a.ts → shared/platform/db/b.ts → shared/platform/db/a.ts",
  ]);
});

Deno.test("misdirectedImports() reports a folder outside the wings", () => {
  assert.deepEqual(misdirectedImports([{ path: "shared/misc/x.ts", imports: [] }]), [
    "shared/misc/x.ts belongs to no wing",
  ]);
});

Deno.test("effectsInCore() finds a clock in the core, but not in its comments or elsewhere", () => {
  assert.equal(effectsInCore("shared/engine/agent/x.ts", "const now = Date.now();").length, 1);
  assert.equal(effectsInCore("shared/engine/agent/x.ts", "// Date.now() is a port").length, 0);
  assert.equal(effectsInCore("shared/engine/worker/x.ts", "const now = Date.now();").length, 0);
});

Deno.test("misdirectedImports() reports two folders that import each other", () => {
  const problems = misdirectedImports([
    { path: "shared/platform/db/a.ts", imports: ["shared/platform/http/b.ts"] },
    { path: "shared/platform/http/b.ts", imports: [] },
    { path: "shared/platform/http/c.ts", imports: ["shared/platform/db/d.ts"] },
    { path: "shared/platform/db/d.ts", imports: [] },
  ]);

  assert.deepEqual(problems, [
    "Import cycle: shared/platform/db → shared/platform/http → shared/platform/db",
  ]);
});

Deno.test("misdirectedImports() prevents a wing from importing one before it", () => {
  const problems = misdirectedImports([
    { path: "shared/gateway/tools/relay.ts", imports: ["shared/servers/quoth/server.ts"] },
    { path: "shared/servers/quoth/server.ts", imports: ["shared/gateway/mcp/message.ts"] },
    { path: "shared/gateway/mcp/message.ts", imports: [] },
  ]);

  assert.deepEqual(problems, [
    "shared/gateway/tools/relay.ts (gateway) imports shared/servers/quoth/server.ts (servers)",
  ]);
});

Deno.test("misdirectedStackImports() prevents the embedded Supabase from importing agents", () => {
  const problems = misdirectedStackImports([
    { path: "stack/stack.ts", imports: ["stack/keys/keys.ts", "shared/engine/agent/decide.ts"] },
    {
      path: "stack/keys/keys.ts",
      imports: ["shared/platform/values/json.ts", "scripts/demo/run_demo.ts"],
    },
    { path: "shared/platform/values/json.ts", imports: [] },
  ]);

  assert.deepEqual(problems, [
    "stack/stack.ts (embedded Supabase) imports shared/engine/agent/decide.ts",
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

Deno.test("foreignImports() reports what the client does not contain, also in several lines", () => {
  const source =
    'import { a } from "./a.ts";\nimport {\n  z,\n} from "../shared/vendor/zod.js";\n' +
    'export type { S } from "npm:supabase";';

  assert.deepEqual(foreignImports("client/job.ts", source), [
    "client/job.ts (client) imports ../shared/vendor/zod.js",
    "client/job.ts (client) imports npm:supabase",
  ]);
  assert.deepEqual(foreignImports("client/job_test.ts", source), []);
  const hook = 'import { useMemo } from "react";\nimport { ref } from "vue";';
  assert.deepEqual(foreignImports("client/react.ts", hook), [
    "client/react.ts (client) imports vue",
  ]);
});

Deno.test("foreignImports() lets only the command use Node, and packages of its one list", () => {
  const source = 'import { join } from "node:path";\nimport { a } from "../a.ts";\n' +
    'import { b } from "npm:b";\nimport { c } from "../../../c.ts";';

  assert.deepEqual(foreignImports("client/command/doctor/check.ts", source), [
    "client/command/doctor/check.ts (client) imports npm:b",
    "client/command/doctor/check.ts (client) imports ../../../c.ts",
  ]);
  assert.deepEqual(foreignImports("client/command/deps.ts", 'export { b } from "npm:b";'), []);
  assert.deepEqual(foreignImports("client/job.ts", 'import { b } from "./command/init.ts";'), [
    "client/job.ts (client) imports ./command/init.ts",
  ]);
});
