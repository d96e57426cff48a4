import assert from "node:assert/strict";
import type { JsonObject } from "../../../shared/platform/values/json.ts";
import { createToolDirectory } from "../../../shared/gateway/mcp/tool_directory.ts";
import { toListedTool } from "../../../shared/gateway/mcp/list_handler.ts";
import { describeServer } from "../../../shared/gateway/execute/server_listing.ts";
import {
  defineTool,
  type InternalServer,
} from "../../../shared/gateway/tool_contracts/internal_server.ts";
import type { ToolCaller } from "../../../shared/gateway/tool_contracts/tool_caller.ts";
import { z } from "../../../shared/vendor/zod.js";
import {
  answerOf,
  callOf,
  noAbort,
  openToolFixture,
  type ToolFixture,
  userCaller,
} from "./tool_fixture.ts";

const base = {
  title: "Greet",
  description: "Greets somebody.",
  annotations: { readOnlyHint: true },
  output: z.object({ text: z.string() }),
} as const;

const firstGreet = defineTool({
  ...base,
  name: "greet",
  version: "1",
  scopes: ["chat:write"],
  deprecated: "Use greet@2.",
  input: z.strictObject({ name: z.string() }),
  run: ({ name }) => Promise.resolve({ text: `Hello ${name}` }),
});
const secondGreet = defineTool({
  ...base,
  name: "greet",
  version: "2",
  scopes: ["chat:write"],
  input: z.strictObject({ person: z.string() }),
  run: ({ person }) => Promise.resolve({ text: `Good day, ${person}` }),
});
const server: InternalServer = {
  name: "greeter",
  title: "Greeter",
  description: "Two versions of one tool",
  // In any order: the newest is found by its version.
  tools: [firstGreet, secondGreet],
};

Deno.test("several versions of a tool coexist", async (t) => {
  await using fixture = await openToolFixture({
    internalServers: { greeter: () => Promise.resolve(server) },
  });
  const { sql, gateway } = fixture;
  await sql`
    insert into public.tools (slug, name, type, config)
    values ('greeter', 'Greeter', 'internal', '{"server": "greeter"}')`;
  const caller = userCaller(await fixture.createUser());
  const call = (toolName: string, args: JsonObject) => called(fixture, caller, toolName, args);
  const list = async () => {
    const options = { gateway, caller, server: "greeter", signal: noAbort(), log: () => {} };
    return (await createToolDirectory(options).list()).map(toListedTool);
  };
  const cached = async () => {
    const rows = await sql`
      select tool_name, tool_version, successful_parameters, success_count, cached.xmin::text
      from public.mcp_tools_cache cached
      join public.agent_mcp_connections connection on connection.id = cached.connection_id
      where connection.user_id = ${caller.userId}`;
    return rows.map((row) => ({ ...row }));
  };

  await t.step("each version has its own names and its own schema", async () => {
    for (const name of ["greet", "greet@2", "greet_v2"]) {
      assert.deepEqual(await call(name, { person: "Ada" }), ["2", "Good day, Ada"], name);
      assert.deepEqual(await call(name, { name: "Ada" }), ["2", "TOOL_ARGUMENTS_INVALID"], name);
    }
    for (const name of ["greet@1", "greet_v1"]) {
      assert.deepEqual(await call(name, { name: "Ada" }), ["1", "Hello Ada"], name);
      assert.deepEqual(await call(name, { person: "Ada" }), ["1", "TOOL_ARGUMENTS_INVALID"], name);
    }
  });

  await t.step("a missing version is unknown, and recorded as unknown", async () => {
    assert.deepEqual(await call("greet@3", { name: "Ada" }), [undefined, "TOOL_NOT_FOUND"]);
    const [row] = await sql`
      select tool_name, tool_version from public.mcp_executions order by created_at desc limit 1`;
    assert.deepEqual({ ...row }, { tool_name: "greet@3", tool_version: null });
  });

  await t.step("the ledger has each call under the plain name with its version", async () => {
    const rows = await sql`
      select distinct tool_name, tool_version from public.mcp_executions
      where tool_version is not null order by tool_version`;
    assert.deepEqual(rows.map((row) => ({ ...row })), [
      { tool_name: "greet", tool_version: "1" },
      { tool_name: "greet", tool_version: "2" },
    ]);
  });

  await t.step("calls of an older version renew no list and teach nothing", async () => {
    const [before] = await cached();
    const listed = await listedAt(fixture, caller);
    for (let count = 0; count < 3; count++) await call("greet_v1", { name: `Eve ${count}` });

    assert.deepEqual(await cached(), [before]);
    assert.deepEqual(before, {
      tool_name: "greet",
      tool_version: "2",
      successful_parameters: [{ person: "Ada" }],
      success_count: before?.success_count,
      xmin: before?.xmin,
    });
    assert.equal(await listedAt(fixture, caller), listed);
  });

  await t.step("an older version is listed by its version and marked as deprecated", async () => {
    const tools = await list();
    const again = await list();

    assert.deepEqual(tools.map(({ name }) => name), ["greet", "greet_v1"]);
    const [newest, older] = tools;
    assert.deepEqual(newest?.inputSchema.required, ["person"]);
    assert.deepEqual(older?.inputSchema.required, ["name"]);
    assert.equal(older?.description, "Greets somebody. Deprecated: Use greet@2.");
    assert.deepEqual(Object.values(older?._meta ?? {}), ["1", "greet@1", "Use greet@2."]);
    assert.deepEqual(Object.values(newest?._meta ?? {}), ["2", "greet@2"]);
    assert.deepEqual(again, tools);
    const described = await describeServer("greeter", false, {
      gateway,
      caller,
      signal: noAbort(),
    });
    assert.deepEqual(
      (described.tools as JsonObject[]).map(({ name, version, deprecated = null }) => [
        name,
        version,
        deprecated,
      ]),
      [["greet", "2", null], ["greet_v1", "1", "Use greet@2."]],
    );
  });

  await t.step("all versions share the limit of the tool", async () => {
    await sql`
      insert into public.mcp_policies (mcp_name, tool_name, calls_per_minute, burst_calls)
      values ('greeter', 'greet', 1, 2)`;
    const other = userCaller(await fixture.createUser());
    await called(fixture, other, "greet", { person: "Ada" });
    await called(fixture, other, "greet_v1", { name: "Ada" });

    await assert.rejects(called(fixture, other, "greet@1", { name: "Ada" }), {
      code: "TOOL_RATE_LIMITED",
    });
  });

  await t.step("a caller's first concurrent calls respect the limit too", async () => {
    const newcomer = userCaller(await fixture.createUser());
    const calls = Array.from(
      { length: 10 },
      () => called(fixture, newcomer, "greet_v1", { name: "Ada" }),
    );

    const passed = (await Promise.allSettled(calls)).filter(({ status }) => status === "fulfilled");
    assert.equal(passed.length, 2);
  });
});

/** The version that ran, with its text or code. */
async function called(
  { gateway }: ToolFixture,
  caller: ToolCaller,
  toolName: string,
  args: JsonObject,
): Promise<readonly [string | undefined, string]> {
  const request = callOf({ server: "greeter", toolName }, caller, args);
  const { toolVersion, structured, errorCode, details } = await answerOf(gateway, request);
  // After three consecutive failures the code changes, and the details keep the tool's own.
  const code = errorCode === "EXCEEDED_RETRIES"
    ? String((details as JsonObject).error_code)
    : errorCode;
  return [toolVersion, code ?? String((structured as JsonObject).text)];
}

async function listedAt({ sql }: ToolFixture, { userId }: ToolCaller): Promise<string> {
  const [row] = await sql`
    select tools_listed_at::text as at from public.agent_mcp_connections where user_id = ${userId}`;
  return String(row?.at);
}
