import assert from "node:assert/strict";
import { startHttpServer } from "./http_fixture.ts";
import { openFixtureOnSharedDatabase } from "./shared_database.ts";
import { answerOf, callOf } from "./tool_fixture.ts";

Deno.test("guardrails run through the gateway", async (t) => {
  const api = startHttpServer(({ body }) =>
    Response.json({ allowed: !body.includes("harm"), reason: "It asks for harm" })
  );
  await using fixture = await openFixtureOnSharedDatabase();
  const { sql, gateway } = fixture;
  await sql.unsafe(`
    create function public.check_request(stage text, content jsonb) returns jsonb
    language sql stable set search_path = '' as
    $$ select jsonb_build_object('allowed', content #>> '{}' !~* 'harm', 'reason', stage) $$;
    grant execute on function public.check_request(text, jsonb) to authenticated;`);
  const userId = await fixture.createUser();
  // The agent has no tools, and the user has no scope for either of them.
  const caller = await fixture.createCaller(userId, []);
  const parameters = {
    type: "object",
    properties: { stage: { type: "string" }, content: {} },
    required: ["stage", "content"],
  };
  const rows = {
    "a database function": {
      type: "supabase_rpc",
      config: { function: "public.check_request" },
    },
    "an HTTP API": {
      type: "http_api",
      config: { method: "POST", url: `${api.url}/check`, parameters },
    },
  } as const;

  for (const [name, row] of Object.entries(rows)) {
    await t.step(`${name} is called for the task's owner, even without its scope`, async () => {
      const toolId = await fixture.createTool(row);
      const [tool] = await sql`select slug from public.tools where id = ${toolId}::uuid`;
      const server = String(tool?.slug);
      const toolName = row.type === "supabase_rpc" ? "check_request" : server;
      await sql`
        insert into public.agent_guardrails (agent_id, stage, tool_id, tool_name)
        values (${caller.agentId}::uuid, 'input', ${toolId}::uuid, ${toolName})
        on conflict (agent_id, stage, priority) do update
        set tool_id = excluded.tool_id, tool_name = excluded.tool_name`;
      const request = callOf({ server, toolName }, caller, {
        stage: "input",
        content: "do harm",
      });

      const checked = await answerOf(gateway, {
        ...request,
        caller: { ...caller, isGuardrail: true },
      });
      const asTool = await answerOf(gateway, request);

      assert.ok(!checked.isError, JSON.stringify(checked));
      assert.match(checked.text, /"?allowed"?: ?false/);
      assert.ok(asTool.isError, "the agent itself may not call it");
      const [recorded] = await sql`
        select count(*)::int as count from public.mcp_executions where mcp_name = ${server}`;
      assert.equal(recorded?.count, 2, "both are in the ledger");
    });
  }
  await api.stop();
});
