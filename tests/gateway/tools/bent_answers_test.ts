import assert from "node:assert/strict";
import { type McpFixtureOptions, startMcpServer } from "./mcp_fixture.ts";
import { openFixtureOnSharedDatabase } from "./shared_database.ts";
import { callOf, noAbort } from "./tool_fixture.ts";

Deno.test("an answer that bends the protocol is an answer for the gateway", async (t) => {
  const fixture = await openFixtureOnSharedDatabase();
  const { gateway, sql } = fixture;

  /** Calls a tool that writes. */
  async function callWrite(options: McpFixtureOptions, count = 1) {
    const server = await startMcpServer(options);
    try {
      const toolId = await fixture.createTool({
        type: "mcp_server",
        config: { mcp_url: server.url },
      });
      const caller = await fixture.createCaller(await fixture.createUser(), [toolId]);
      const tool = await fixture.findTool(caller, "write_note");
      const outcomes = [];
      for (let index = 0; index < count; index++) {
        outcomes.push(await gateway.call(callOf(tool, caller, { text: "hello" }), noAbort()));
      }
      const [connection] = await sql<{ health: string }[]>`
        select health from public.agent_mcp_connections where tool_id = ${toolId}`;
      const executions = await sql<{ status: string }[]>`
        select status from public.mcp_executions where tool_id = ${toolId}`;
      const sent = server.seen.filter(({ method }) => method === "tools/call").length;
      return { outcomes, sent, connection, statuses: executions.map(({ status }) => status) };
    } finally {
      await server.stop();
    }
  }

  await t.step("an unknown block beside a text is a success of one call", async () => {
    const { outcomes: [outcome], sent, statuses } = await callWrite({
      intercept: async ({ method }, answer) => {
        if (method !== "tools/call") return await answer();
        const content = [{ type: "chart", foo: 1 }, {
          type: "text",
          text: "ok",
          annotations: null,
        }];
        const result = { content, isError: null, _meta: null };
        return Response.json({ jsonrpc: "2.0", id: await idOf(await answer()), result });
      },
    });

    assert.ok(outcome?.kind === "answered" && !outcome.isError);
    assert.match(outcome.text, /"foo":1.*\nok\n.*'chart' that cannot be read, shown as text/);
    assert.deepEqual([sent, statuses], [1, ["success"]]);
  });

  await t.step("arguments rejected with HTTP 400 do not open the breaker", async () => {
    const { outcomes, connection } = await callWrite({
      era: "legacy",
      intercept: async ({ method }, answer) => {
        if (method !== "tools/call") return await answer();
        const error = { code: -32602, message: "Invalid arguments: x is required" };
        const id = await idOf(await answer());
        return Response.json({ jsonrpc: "2.0", id, error }, { status: 400 });
      },
    }, 6);

    for (const outcome of outcomes) {
      assert.ok(outcome.kind === "answered");
      assert.match(outcome.text, /x is required/);
    }
    assert.equal(
      outcomes[0]?.kind === "answered" && outcomes[0].errorCode,
      "TOOL_ARGUMENTS_INVALID",
    );
    assert.equal(connection?.health, "healthy");
  });

  await fixture.stop();
});

/** The id of the request that a response of either version of the protocol belongs to. */
async function idOf(response: Response): Promise<number> {
  return Number(/"id":(\d+)/.exec(await response.text())?.[1]);
}
