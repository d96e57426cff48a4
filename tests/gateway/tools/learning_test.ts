import assert from "node:assert/strict";
import type { JsonObject, JsonValue } from "../../../shared/platform/values/json.ts";
import { startMcpServer } from "./mcp_fixture.ts";
import { openFixtureOnSharedDatabase } from "./shared_database.ts";
import { callOf, noAbort, type ToolFixture } from "./tool_fixture.ts";

Deno.test("the gateway learns from calls", async (t) => {
  const fixture = await openFixtureOnSharedDatabase();
  const server = await startMcpServer();
  try {
    await learning(t, fixture, server.url);
    await cache(t, fixture);
    await permissions(t, fixture);
  } finally {
    await server.stop();
    await fixture.stop();
  }
});

async function learning(t: Deno.TestContext, fixture: ToolFixture, url: string): Promise<void> {
  const { sql, gateway } = fixture;

  async function setUp() {
    const toolId = await fixture.createTool({ type: "mcp_server", config: { mcp_url: url } });
    const [one, other] = [await fixture.createUser(), await fixture.createUser()];
    return {
      toolId,
      owner: await fixture.createCaller(one, [toolId]),
      stranger: await fixture.createCaller(other, [toolId]),
      service: await fixture.createCaller(null, [toolId]),
    };
  }

  await t.step("the next agent of the same user sees arguments that worked", async () => {
    const { owner } = await setUp();
    const args = { searchValue: "ann@private.example", unit: "people" };
    const before = await fixture.findTool(owner, "search");
    await gateway.call(callOf(before, owner, args), noAbort());

    const after = await fixture.findTool(owner, "search");

    assert.equal(before.knownGood, undefined);
    assert.deepEqual(after.knownGood, { parameters: args, isShape: false, successCount: 1 });
    assert.ok(after.description.startsWith(before.description));
    assert.match(after.description, /have worked for this tool call \(their shape\): .*<email>/);
    assert.ok(!after.description.includes("ann@"), "values stay out of descriptions");
  });

  await t.step("another user and the service see only the shape", async () => {
    const { owner, stranger, service } = await setUp();
    const tool = await fixture.findTool(owner, "search");
    const args = { searchValue: "ann@private.example", unit: "people" };
    await gateway.call(callOf(tool, owner, args), noAbort());

    for (const caller of [stranger, service]) {
      const seen = await fixture.findTool(caller, "search");

      assert.deepEqual(seen.knownGood, {
        parameters: { searchValue: "<email>", unit: "people" },
        isShape: true,
        successCount: 1,
      });
      assert.ok(!JSON.stringify(seen).includes("private.example"));
    }
  });

  await t.step("a service call keeps only the shape, even for the service", async () => {
    const { toolId, service } = await setUp();
    const tool = await fixture.findTool(service, "search");
    await gateway.call(callOf(tool, service, { searchValue: "secret words" }), noAbort());

    const [row] = await sql<{ successful_parameters: JsonValue }[]>`
      select cached.successful_parameters
      from public.mcp_tools_cache cached
      join public.agent_mcp_connections connection on connection.id = cached.connection_id
      where connection.tool_id = ${toolId} and cached.tool_name = 'search'`;

    assert.deepEqual(row?.successful_parameters, [{ searchValue: "<string>" }]);
  });

  await t.step("a grade removes a call whose arguments were too large for the ledger", async () => {
    const { toolId, owner } = await setUp();
    const tool = await fixture.findTool(owner, "search");
    const outcome = await gateway.call(
      callOf(tool, owner, { searchValue: "x".repeat(40_000), unit: "people" }),
      noAbort(),
    );
    const learned = async () => {
      const rows = await sql<{ successful_parameters: JsonValue[] }[]>`
        select cached.successful_parameters
        from public.mcp_tools_cache cached
        join public.agent_mcp_connections connection on connection.id = cached.connection_id
        where connection.tool_id = ${toolId} and cached.tool_name = 'search'
        order by connection.user_id nulls last`;
      return rows.flatMap((row) => row.successful_parameters);
    };
    assert.deepEqual(await learned(), [
      { searchValue: "<text of 40000 characters>", unit: "people" },
      { searchValue: "<string>", unit: "people" },
    ]);

    const [row] = await sql`select private.delete_parameters(${outcome.executionId}) as count`;

    assert.equal(row?.count, 1);
    assert.deepEqual(await learned(), []);
  });

  await t.step("nothing is learned from a failed call", async () => {
    const { owner } = await setUp();
    const tool = await fixture.findTool(owner, "fail");
    await gateway.call(callOf(tool, owner, { with: "x" }), noAbort());

    assert.equal((await fixture.findTool(owner, "fail")).knownGood, undefined);
  });
}

async function cache(t: Deno.TestContext, fixture: ToolFixture): Promise<void> {
  const { sql } = fixture;

  async function connect(): Promise<string> {
    const toolId = await fixture.createTool({
      type: "mcp_server",
      config: { mcp_url: "http://x" },
    });
    const userId = await fixture.createUser();
    const [row] = await sql<{ id: string }[]>`
      select private.ensure_connection(${toolId}, ${userId}) as id`;
    assert.ok(row);
    return row.id;
  }

  async function store(
    connectionId: string,
    names: string[],
    { description = "d", inputSchema = {} }: { description?: string; inputSchema?: JsonObject } =
      {},
  ) {
    const tools = names.map((name) => {
      const schema = { name, description, inputSchema: { type: "object", ...inputSchema } };
      return { name, version: null, schema, openai_schema: {}, hash: JSON.stringify(schema) };
    });
    const listing = { tools, dropped: [], is_remote: false, holds_new: false };
    const [row] = await sql<{ written: number }[]>`
      select private.record_tools(${connectionId}, ${sql.json(listing)}) as written`;
    return row?.written;
  }

  async function record(connectionId: string, parameters: JsonObject) {
    await sql`
      select public.record_mcp_tool_execution(${connectionId}, 'a', ${sql.json(parameters)})`;
  }

  async function learned(connectionId: string) {
    const [row] = await sql<{ successful_parameters: JsonObject[]; success_count: number }[]>`
      select successful_parameters, success_count from public.mcp_tools_cache
      where connection_id = ${connectionId} and tool_name = 'a'`;
    assert.ok(row);
    return row;
  }

  await t.step("the cache is rewritten only if a definition differs", async () => {
    const id = await connect();

    assert.equal(await store(id, ["a", "b"]), 2);
    assert.equal(await store(id, ["a", "b"]), 0);
    assert.equal(await store(id, ["a"], { description: "new" }), 1);
    const rows =
      await sql`select tool_name from public.mcp_tools_cache where connection_id = ${id}`;
    assert.deepEqual(rows.map((row) => row.tool_name), ["a"]);
  });

  /** As if the last call had been more than a second ago. */
  async function waitASecond(connectionId: string) {
    await sql`
      update public.mcp_tools_cache
      set last_successful_call = last_successful_call - interval '1 second'
      where connection_id = ${connectionId}`;
  }

  await t.step("the ten newest distinct sets are kept, a repeated one as the newest", async () => {
    const id = await connect();
    await store(id, ["a"]);

    for (const n of [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 5]) {
      await record(id, { n });
      await waitASecond(id);
    }

    const { successful_parameters: sets, success_count: count } = await learned(id);
    assert.deepEqual(sets.map(({ n }) => n), [3, 4, 6, 7, 8, 9, 10, 11, 12, 5]);
    assert.equal(count, 13);
  });

  await t.step("calls within a second teach only what is new, while there is room", async () => {
    const id = await connect();
    await store(id, ["a"]);

    for (const n of [1, 2, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11]) await record(id, { n });
    const busy = await learned(id);
    await waitASecond(id);
    await record(id, { n: 11 });

    assert.deepEqual(busy.successful_parameters.map(({ n }) => n), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    assert.equal(busy.success_count, 10);
    const later = await learned(id);
    assert.deepEqual(later.successful_parameters.map(({ n }) => n), [
      2,
      3,
      4,
      5,
      6,
      7,
      8,
      9,
      10,
      11,
    ]);
    assert.equal(later.success_count, 11);
  });

  await t.step(
    "a changed schema deletes learned arguments, a changed description does not",
    async () => {
      const id = await connect();
      await store(id, ["a"]);
      await record(id, { n: 1 });

      await store(id, ["a"], { description: "said in another way" });
      const parameters = await learned(id);
      await store(id, ["a"], { inputSchema: { required: ["m"] } });
      const changed = await learned(id);

      assert.deepEqual([parameters.successful_parameters, parameters.success_count], [
        [{ n: 1 }],
        1,
      ]);
      assert.deepEqual([changed.successful_parameters, changed.success_count], [[], 0]);
    },
  );

  /** The service's connection to the same server, and another user's. */
  async function besides(connectionId: string) {
    const [row] = await sql<{ service_id: string; other_id: string }[]>`
      select private.ensure_connection(tool_id, null) as service_id,
        private.ensure_connection(tool_id, ${await fixture.createUser()}) as other_id
      from public.agent_mcp_connections where id = ${connectionId}`;
    assert.ok(row);
    return { serviceId: row.service_id, otherId: row.other_id };
  }
  const taking = (argument: string) => ({
    inputSchema: { properties: { [argument]: { type: "integer" } } },
  });

  await t.step("the shape is learned again with a new schema", async () => {
    const id = await connect();
    const { serviceId, otherId } = await besides(id);
    await store(id, ["a"], taking("n"));
    await record(id, { n: 1 });

    await store(id, ["a"], taking("m"));
    await store(otherId, ["a"], taking("m"));
    for (const m of [1, 2]) await record(id, { m });

    assert.deepEqual({ ...await learned(serviceId) }, {
      successful_parameters: [{ m: "<integer>" }],
      success_count: 2,
    });
  });

  await t.step("a user with a different schema does not replace others' shape", async () => {
    const id = await connect();
    const { serviceId, otherId } = await besides(id);
    await store(id, ["a"], taking("n"));
    await store(otherId, ["a"], taking("m"));

    for (const n of [1, 2]) {
      await record(id, { n });
      await record(otherId, { m: n });
    }

    assert.deepEqual({ ...await learned(serviceId) }, {
      successful_parameters: [{ n: "<integer>" }],
      success_count: 2,
    });
  });

  await t.step("what the service learned after a user is kept", async () => {
    const id = await connect();
    const { serviceId } = await besides(id);
    await store(id, ["a"], taking("m"));
    await store(serviceId, ["a"], taking("n"));
    await record(serviceId, { n: 1 });

    await record(id, { m: 1 });

    assert.deepEqual((await learned(serviceId)).successful_parameters, [{ n: "<integer>" }]);
  });

  await t.step("values that look like a key or a token are not stored", async () => {
    const id = await connect();
    await store(id, ["a"]);
    const values = [
      "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
      "call it with sk-proj-0123456789abcdefghij please",
      "https://ann:hunter22@example.com/",
      "Bearer 0123456789abcdef",
    ];

    await record(id, { values, ok: "a plain sentence about tokens" });

    const { successful_parameters: [set] } = await learned(id);
    assert.deepEqual(set, {
      values: values.map(() => "<redacted>"),
      ok: "a plain sentence about tokens",
    });
  });

  await t.step("secrets by their key and long texts are not stored", async () => {
    const id = await connect();
    await store(id, ["a"]);

    await record(id, { apiKey: "k", nested: [{ password: "p", text: "x".repeat(300) }], ok: 1 });

    const { successful_parameters: [set] } = await learned(id);
    assert.deepEqual(set, {
      apiKey: "<redacted>",
      nested: [{ password: "<redacted>", text: "<text of 300 characters>" }],
      ok: 1,
    });
  });

  await t.step("only a few of many or large values are stored", async () => {
    const id = await connect();
    await store(id, ["a"]);
    const lines = (n: number) => Array.from({ length: 5_000 }, (_, line) => `${n}: line ${line}`);
    const wide = Array.from({ length: 5_000 }, (_, n) => [`key ${n} ${"y".repeat(200)}`, "y"]);
    const row = { one: "z".repeat(250), other: "z".repeat(250) };
    const deep = { rows: [Array.from({ length: 100 }, () => row)] };

    for (let n = 0; n < 8; n++) await record(id, { lines: lines(n), ok: n });
    await record(id, deep);
    await record(id, Object.fromEntries(wide));

    const { successful_parameters: sets } = await learned(id);
    assert.equal(sets.length, 10);
    assert.deepEqual(sets[0], { lines: lines(0).slice(0, 10), ok: 0 });
    const stub = "<text of 250 characters>";
    assert.deepEqual(sets[8], { rows: [Array(3).fill({ one: stub, other: stub })] });
    for (const set of sets) assert.ok(JSON.stringify(set).length <= 4_096);
  });

  await t.step("a changed config deletes the negotiated protocol", async () => {
    const id = await connect();
    const state = { protocol: "2026-07-28", discovery: { a: 1 }, session: null };
    await sql`select private.record_connection_state(${id}, ${sql.json(state)})`;
    await store(id, ["a"]);
    const [tool] = await sql<{ id: string; user_id: string }[]>`
      select tool_id as id, user_id from public.agent_mcp_connections where id = ${id}`;
    assert.ok(tool);

    await sql`update public.tools set config = '{"mcp_url": "http://y"}' where id = ${tool.id}`;
    await sql`select private.ensure_connection(${tool.id}, ${tool.user_id})`;

    const [after] = await sql`
      select protocol, discovery, tools_listed_at from public.agent_mcp_connections where id = ${id}`;
    assert.deepEqual({ ...after }, { protocol: null, discovery: null, tools_listed_at: null });
  });
}

async function permissions(t: Deno.TestContext, fixture: ToolFixture): Promise<void> {
  const { sql, gateway } = fixture;
  const server = await startMcpServer();
  const ownerId = await fixture.createUser();
  const toolId = await fixture.createTool({
    type: "mcp_server",
    config: { mcp_url: server.url },
  });
  const owner = await fixture.createCaller(ownerId, [toolId]);
  await gateway.call(
    callOf(await fixture.findTool(owner, "search"), owner, { searchValue: "x" }),
    noAbort(),
  );
  await server.stop();

  await t.step("a policy that forbids a tool applies to the agent too", async () => {
    const [row] = await sql<{ slug: string }[]>`select slug from public.tools where id = ${toolId}`;
    assert.ok(row);
    const tool = await fixture.findTool(owner, "search");
    await sql`
      insert into public.mcp_policies (mcp_name, tool_name, is_allowed)
      values (${row.slug}, 'search', false)`;

    const outcome = await gateway.call(callOf(tool, owner, { searchValue: "x" }), noAbort());

    assert.ok(outcome.kind === "answered" && outcome.errorCode === "TOOL_FORBIDDEN");
  });

  await t.step("an agent may use only the tools that its row names", async () => {
    await sql`
      update public.agent_tools set allowed_tools = '{fail}' where agent_id = ${owner.agentId}`;
    const { tools } = await gateway.listAgentTools(owner, noAbort());
    const [allowed] = tools;
    assert.ok(allowed);

    const outcome = await gateway.call(
      callOf({ ...allowed, toolName: "search" }, owner, { searchValue: "x" }),
      noAbort(),
    );

    assert.deepEqual(tools.map(({ toolName }) => toolName), ["fail"]);
    assert.ok(outcome.kind === "answered" && outcome.errorCode === "TOOL_FORBIDDEN");
  });
}
