import assert from "node:assert/strict";
import { INTERNAL_SERVERS } from "../../../shared/app/internal_servers.ts";
import { createToolGateway } from "../../../shared/gateway/tools/gateway.ts";
import type { PreparedCall } from "../../../shared/gateway/tool_contracts/tool_gateway.ts";
import type { ToolCaller } from "../../../shared/gateway/tool_contracts/tool_caller.ts";
import type { Sql } from "../../../shared/platform/db/sql_client.ts";
import { startMcpServer } from "./mcp_fixture.ts";
import { openFixtureOnSharedDatabase } from "./shared_database.ts";
import { noAbort, nobody, SECRET_KEY, userCaller } from "./tool_fixture.ts";

const DETAILS = {
  arguments: { searchValue: "x" },
  stepSeq: null,
  attempt: 1,
  idempotencyKey: "key",
  traceparent: null,
};

Deno.test("a call is looked up before it is made", async (t) => {
  const fixture = await openFixtureOnSharedDatabase();
  const server = await startMcpServer();
  try {
    const { gateway, sql } = fixture;
    const secretName = await fixture.storeSecret("notes-key");
    const toolId = await fixture.createTool({
      type: "mcp_server",
      config: { mcp_url: server.url },
      credential: { type: "api_key", name: secretName },
    });
    const slug = await slugOf(sql, toolId);
    const prepare = (toolName: string, caller: ToolCaller) =>
      gateway.prepare({ server: slug, toolName, caller });

    /** A user who may use the server and has listed its tools. */
    const listingUser = async (): Promise<ToolCaller> => {
      const user = userCaller(await fixture.createUser());
      await sql`
        insert into public.mcp_grants (user_id, scopes)
        values (${user.userId}, array[${`mcp:${slug}`}])`;
      await gateway.listServerTools(slug, user, {}, noAbort());
      return user;
    };

    await t.step("no call is found if a list is needed first", async () => {
      assert.equal(await prepare("search", nobody()), null, "nothing is listed yet");
      await gateway.listServerTools(slug, nobody(), {}, noAbort());

      assert.equal(await prepare("serach", nobody()), null, "no tool has this name");
      const target = { server: "nowhere", toolName: "search", caller: nobody() };
      assert.equal(await gateway.prepare(target), null, "no server has this name");
      await sql`
        update public.agent_mcp_connections set tools_listed_at = now() - interval '1 hour'
        where tool_id = ${toolId}`;
      assert.equal(await prepare("search", nobody()), null, "the list is old");
      await gateway.listServerTools(slug, nobody(), { refresh: true }, noAbort());
    });

    await t.step("no call is found outside of a task if a server is for tasks only", async () => {
      const artifactsId = await fixture.createTool({
        type: "internal",
        config: { server: "artifacts" },
      });
      const target = { server: await slugOf(sql, artifactsId), toolName: "list_artifacts" };
      const agent = await fixture.createCaller(await fixture.createUser(), [artifactsId]);
      const [task] = await sql<{ task_id: string }[]>`
        select task_id
        from private.create_task(
          p_agent => ${agent.agentId}, p_input => '{}', p_created_by => ${agent.userId})`;
      assert.ok(task);
      const inTask = { ...agent, taskId: task.task_id };
      await gateway.listServerTools(target.server, inTask, {}, noAbort());

      assert.notEqual(await gateway.prepare({ ...target, caller: inTask }), null);
      assert.equal(await gateway.prepare({ ...target, caller: nobody() }), null);
    });

    await t.step("it takes two database queries and one server request", async () => {
      const asked: string[] = [];
      const counted = createToolGateway({
        sql: recording(sql, asked),
        internalServers: INTERNAL_SERVERS,
        supabaseUrl: "http://127.0.0.1:9",
        secretKey: SECRET_KEY,
        allowLoopback: true,
        log: () => {},
      });
      server.seen.length = 0;

      const prepared = await counted.prepare({
        server: slug,
        toolName: "search",
        caller: nobody(),
      });
      const outcome = await prepared?.run(DETAILS, noAbort());

      assert.ok(outcome?.kind === "answered" && !outcome.isError);
      assert.deepEqual(asked, ["private.begin_tool_call", "private.record_execution"]);
      assert.deepEqual(server.seen.map(({ method }) => method), ["tools/call"]);
      assert.equal(server.seen[0]?.headers.get("x-api-key"), "notes-key");
    });

    await t.step("a refused call names what the caller lacks, and is recorded", async () => {
      const user = await listingUser();
      await sql`update public.mcp_grants set scopes = array[]::text[] where user_id = ${user.userId}`;

      const prepared = await known(prepare("search", user));
      assert.deepEqual(prepared.tool.missingScopes, [`mcp:${slug}`]);
      const outcome = await prepared.run(DETAILS, noAbort());

      assert.ok(outcome.kind === "answered" && outcome.errorCode === "INSUFFICIENT_SCOPE");
      const [row] = await sql`
        select status from public.mcp_executions where id = ${outcome.executionId}`;
      assert.equal(row?.status, "error");
    });

    await t.step("the rate limit is charged once", async () => {
      const user = await listingUser();
      await sql`
        insert into public.mcp_policies (mcp_name, user_id, calls_per_minute, burst_calls)
        values (${slug}, ${user.userId}, 1, 2)`;

      for (let n = 0; n < 2; n++) {
        const outcome = await (await known(prepare("search", user))).run(DETAILS, noAbort());
        assert.ok(outcome.kind === "answered" && !outcome.isError);
      }
      const third = await known(prepare("search", user));
      await assert.rejects(third.run(DETAILS, noAbort()), { code: "TOOL_RATE_LIMITED" });
    });
  } finally {
    await server.stop();
    await fixture.stop();
  }
});

async function known(prepared: Promise<PreparedCall | null>): Promise<PreparedCall> {
  const call = await prepared;
  assert.ok(call !== null, "the tool is known");
  return call;
}

async function slugOf(sql: Sql, toolId: string): Promise<string> {
  const [row] = await sql<{ slug: string }[]>`select slug from public.tools where id = ${toolId}`;
  return row?.slug ?? "";
}

/** The pool, which records the function that each statement calls. */
function recording(sql: Sql, asked: string[]): Sql {
  return new Proxy(sql, {
    apply(target, self, args: [readonly string[], ...unknown[]]) {
      const [strings] = args;
      asked.push(/private\.\w+/.exec(strings.join("?"))?.[0] ?? strings.join("?"));
      return Reflect.apply(target, self, args);
    },
  });
}
