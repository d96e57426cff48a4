import assert from "node:assert/strict";
import { definitionHash } from "../../../shared/gateway/tools/listing/definition_pin.ts";
import { waitFor } from "../../../scripts/wait_for.ts";
import { openFixtureOnSharedDatabase } from "./shared_database.ts";
import { noAbort, type ToolFixture } from "./tool_fixture.ts";

/** Many batches. */
const TOOL_COUNT = 400;

Deno.test("the list of a server with many tools", async (t) => {
  const fixture = await openFixtureOnSharedDatabase();
  try {
    await scenarios(t, fixture);
  } finally {
    await fixture.stop();
  }
});

async function scenarios(t: Deno.TestContext, fixture: ToolFixture): Promise<void> {
  const { gateway, sql } = fixture;
  const userId = await fixture.createUser();

  await t.step("is completed although the task that asked for it is returned", async () => {
    await using server = serveTools(TOOL_COUNT);
    const toolId = await fixture.createTool({
      type: "mcp_server",
      config: { mcp_url: server.url },
    });
    const caller = await fixture.createCaller(userId, [toolId]);
    const returned = new AbortController();
    const listing = gateway.listAgentTools(caller, returned.signal);
    const rejected = assert.rejects(listing, /returned/);
    await waitFor(async () => {
      const [row] = await sql`select count(*)::int as count from private.prepared_tools`;
      return row?.count > 0;
    }, { intervalMs: 1, what: "the first batch" });
    returned.abort(new Error("returned"));
    await rejected;
    await waitFor(async () => await countTools(toolId) === TOOL_COUNT);
    const { tools } = await gateway.listAgentTools(caller, noAbort());
    assert.equal(tools.length, TOOL_COUNT);
    assert.equal(server.listCount(), 1);
    assert.deepEqual(await sql`select from private.prepared_tools`.then((rows) => rows.length), 0);
  });

  await t.step("continues what a caller that died has prepared", async () => {
    await using server = serveTools(2);
    const toolId = await fixture.createTool({
      type: "mcp_server",
      config: { mcp_url: server.url },
    });
    const caller = await fixture.createCaller(null, [toolId]);
    const [connection] = await sql`
      select private.ensure_connection(${toolId}, null) as id`;
    await sql`
      select private.prepare_tools(${connection?.id}, ${
      sql.json([{
        hash: definitionHash(toolNumber(0)),
        openai_schema: { was: "prepared" },
        schema_losses: {},
      }])
    })`;
    await gateway.listAgentTools(caller, noAbort());
    assert.deepEqual(await formsOf(toolId), [{ was: "prepared" }, "converted"]);
  });

  await t.step("is converted again only where it changed, or by another release", async () => {
    await using server = serveTools(2);
    const toolId = await fixture.createTool({
      type: "mcp_server",
      config: { mcp_url: server.url },
    });
    const caller = await fixture.createCaller(null, [toolId]);
    const list = async () => {
      await sql`
        update public.agent_mcp_connections set tools_listed_at = null where tool_id = ${toolId}`;
      await gateway.listAgentTools(caller, noAbort());
    };
    await list();
    await sql`
      update public.mcp_tools_cache set openai_schema = '{"was": "stored"}'
      where connection_id in (select id from public.agent_mcp_connections where tool_id = ${toolId})`;
    await list();
    assert.deepEqual(await formsOf(toolId), [{ was: "stored" }, { was: "stored" }]);
    await sql`
      update public.agent_mcp_connections set prepared_by = '0.0.9' where tool_id = ${toolId}`;
    await list();
    assert.deepEqual(await formsOf(toolId), ["converted", "converted"]);
  });

  async function countTools(toolId: string): Promise<number> {
    const [row] = await sql`
      select count(*)::int as count from public.mcp_tools_cache as cached
      join public.agent_mcp_connections as connection on connection.id = cached.connection_id
      where connection.tool_id = ${toolId}`;
    return Number(row?.count);
  }

  async function formsOf(toolId: string): Promise<unknown[]> {
    const rows = await sql`
      select cached.openai_schema from public.mcp_tools_cache as cached
      join public.agent_mcp_connections as connection on connection.id = cached.connection_id
      where connection.tool_id = ${toolId} order by cached.tool_name`;
    return rows.map(({ openai_schema: form }) => form.function === undefined ? form : "converted");
  }
}

function toolNumber(n: number) {
  return {
    name: `tool_${n}`,
    description: `Does thing number ${n}.`,
    inputSchema: {
      type: "object" as const,
      properties: { id: { type: "string" }, limit: { type: "integer", minimum: 1 } },
    },
  };
}

/** A server without sessions, which lists `count` tools. */
function serveTools(count: number) {
  let lists = 0;
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      if (request.method !== "POST") return new Response(null, { status: 405 });
      const { id, method } = await request.json();
      if (id === undefined) return new Response(null, { status: 202 });
      const answer = (result: unknown) => Response.json({ jsonrpc: "2.0", id, result });
      if (method === "initialize") {
        return answer({
          protocolVersion: "2025-06-18",
          capabilities: { tools: {} },
          serverInfo: { name: "many", version: "1" },
        });
      }
      if (method !== "tools/list") {
        return Response.json({ jsonrpc: "2.0", id, error: { code: -32601, message: "unknown" } });
      }
      lists++;
      return answer({ tools: Array.from({ length: count }, (_, n) => toolNumber(n)) });
    },
  );
  return {
    url: `http://127.0.0.1:${server.addr.port}/mcp`,
    listCount: () => lists,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}
