import assert from "node:assert/strict";
import { INTERNAL_SERVERS } from "../../../shared/app/internal_servers.ts";
import { createToolGateway } from "../../../shared/gateway/tools/gateway.ts";
import type { Sql } from "../../../shared/platform/db/sql_client.ts";
import { sharedDatabase } from "./shared_database.ts";
import { answerOf, callOf, openToolFixture, SECRET_KEY, type ToolFixture } from "./tool_fixture.ts";

Deno.test("a call of a known tool sends two statements, one before and one after it", async () => {
  await using fixture = await openToolFixture({ database: await sharedDatabase() });
  await using server = startEcho(200);
  const { tool, caller } = await addEcho(fixture, server.url);
  const { sql, statements } = counting(fixture.sql);
  const gateway = createToolGateway({
    sql,
    internalServers: INTERNAL_SERVERS,
    log: () => {},
    secretKey: SECRET_KEY,
    supabaseUrl: "http://127.0.0.1:9",
    allowLoopback: true,
  });
  await answerOf(gateway, callOf(tool, caller, {}));
  statements.length = 0;

  const { isError } = await answerOf(gateway, callOf(tool, caller, {}));

  assert.equal(isError, false);
  assert.deepEqual(
    statements.map((text) => /private\.\w+/.exec(text)?.[0]),
    ["private.begin_tool_call", "private.record_execution"],
  );
});

Deno.test("a caller that waits for the ledger row itself gets the answer before it", async () => {
  await using fixture = await openToolFixture({ database: await sharedDatabase() });
  await using server = startEcho(200);
  const { tool, caller } = await addEcho(fixture, server.url);
  const order: string[] = [];
  let recorded = Promise.resolve();
  const request = {
    ...callOf(tool, caller, {}),
    onRecording: (write: Promise<void>) =>
      void (recorded = write.then(() => void order.push("row"))),
  };

  const answer = await answerOf(fixture.gateway, request);
  order.push("answer");
  await recorded;

  assert.deepEqual(order, ["answer", "row"]);
  const [entry] = await fixture.sql`
    select status from public.mcp_executions where id = ${answer.executionId}`;
  assert.equal(entry?.status, "success");
});

Deno.test("a failed call is answered after its ledger row, which counts the failures", async () => {
  await using fixture = await openToolFixture({ database: await sharedDatabase() });
  await using server = startEcho(500);
  const { tool, caller } = await addEcho(fixture, server.url);
  let writes = 0;

  const answer = await answerOf(fixture.gateway, {
    ...callOf(tool, caller, {}),
    onRecording: () => void writes++,
  });

  assert.equal(writes, 0);
  assert.equal(answer.consecutiveFailures, 1);
});

async function addEcho(fixture: ToolFixture, url: string) {
  const toolId = await fixture.createTool({
    type: "http_api",
    config: { method: "GET", url, parameters: { type: "object" }, read_only: true },
  });
  const caller = await fixture.createCaller(await fixture.createUser(), [toolId]);
  const [row] = await fixture.sql<{ slug: string }[]>`
    select slug from public.tools where id = ${toolId}`;
  assert.ok(row);
  return { tool: await fixture.findTool(caller, row.slug), caller };
}

function startEcho(status: number): AsyncDisposable & { readonly url: string } {
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    () => Response.json({ ok: status === 200 }, { status }),
  );
  return {
    url: `http://127.0.0.1:${server.addr.port}/echo`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** The same connections; notes each statement that is sent through them. */
function counting(sql: Sql): { readonly sql: Sql; readonly statements: string[] } {
  const statements: string[] = [];
  const noting = new Proxy(sql, {
    apply(target, self, args: unknown[]) {
      const [text] = args as [readonly string[] & { readonly raw?: unknown }];
      if (text.raw !== undefined) statements.push(text.join("$"));
      return Reflect.apply(target, self, args);
    },
  });
  return { sql: noting, statements };
}
