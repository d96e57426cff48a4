import assert from "node:assert/strict";
import { definedOnly } from "../../../shared/platform/values/defined_only.ts";
import { asJsonObject } from "../../../shared/platform/values/json.ts";
import type { ToolCaller } from "../../../shared/gateway/tool_contracts/tool_caller.ts";
import type { ToolCallOutcome } from "../../../shared/gateway/tool_contracts/tool_call.ts";
import { type McpFixtureOptions, startMcpServer } from "./mcp_fixture.ts";
import { openFixtureOnSharedDatabase } from "./shared_database.ts";
import { callOf, noAbort, SECRET_KEY, type ToolFixture } from "./tool_fixture.ts";

const CANARY = 'c4n4ry-key+/="secret';

Deno.test("MCP servers work through the gateway", async (t) => {
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

  /** A server, its registry row and an agent that may use it. */
  async function setUp(options: McpFixtureOptions = {}, config = {}, credential?: {
    type: string | null;
    value: string;
  }) {
    const server = await startMcpServer(options);
    const toolId = await fixture.createTool({
      type: "mcp_server",
      config: { mcp_url: server.url, ...config },
      ...(credential === undefined ? {} : {
        credential: {
          type: credential.type,
          name: await fixture.storeSecret(credential.value),
        },
      }),
    });
    const caller = await fixture.createCaller(userId, [toolId]);
    return { server, toolId, caller };
  }

  async function call(caller: ToolCaller, name: string, args: Record<string, string>) {
    const tool = await fixture.findTool(caller, name);
    return await gateway.call(callOf(tool, caller, args), noAbort());
  }

  async function executionOf(outcome: ToolCallOutcome) {
    const [row] = await sql`
      select execution.*, failure.error_type, failure.error_code
      from public.mcp_executions execution
      left join public.mcp_failures failure on failure.execution_id = execution.id
      where execution.id = ${outcome.executionId}`;
    assert.ok(row);
    return row;
  }

  for (const era of ["modern", "legacy"] as const) {
    await t.step(`a ${era} server is discovered, and each call costs one request`, async () => {
      const { server, caller } = await setUp({ era });
      try {
        const first = await call(caller, "search", { searchValue: "a@b.example" });
        server.seen.length = 0;
        const second = await call(caller, "search", { searchValue: "a@b.example" });

        assert.equal(first.kind, "answered");
        assert.ok(second.kind === "answered" && !second.isError, JSON.stringify(second));
        assert.match(second.text, /found .*a@b\.example/);
        assert.deepEqual(second.structured, { found: true });
        assert.deepEqual(server.seen.map(({ method }) => method), ["tools/call"]);
        const row = await executionOf(second);
        assert.equal(row.status, "success");
        assert.equal(row.user_id, userId);
        assert.equal(row.feedback_token, second.feedbackToken);
      } finally {
        await server.stop();
      }
    });

    await t.step(`a restarted ${era} server is initialized again`, async () => {
      const { server, caller } = await setUp({ era });
      const port = Number(new URL(server.url).port);
      await call(caller, "search", { searchValue: "x" });
      await server.stop();

      const gone = await call(caller, "search", { searchValue: "x" });
      const restarted = await startMcpServer({ era, port });
      try {
        const back = await call(caller, "search", { searchValue: "x" });

        assert.ok(gone.kind === "answered" && gone.errorCode === "TOOL_UNAVAILABLE");
        assert.equal((await executionOf(gone)).error_type, "transport_error");
        assert.ok(back.kind === "answered" && !back.isError, JSON.stringify(back));
      } finally {
        await restarted.stop();
      }
    });
  }

  await t.step("a server that changed to the other era is initialized again", async () => {
    const { server, caller } = await setUp({ era: "modern" });
    const port = Number(new URL(server.url).port);
    await call(caller, "search", { searchValue: "x" });
    await server.stop();
    const changed = await startMcpServer({ era: "legacy", port });
    try {
      const outcome = await call(caller, "search", { searchValue: "x" });

      assert.ok(outcome.kind === "answered" && !outcome.isError, JSON.stringify(outcome));
    } finally {
      await changed.stop();
    }
  });

  const placements = [
    {
      name: "a header named by the config",
      auth: { in: "header", name: "X-Key" },
      type: "api_key",
    },
    { name: "the query", auth: { in: "query", name: "key" }, type: "api_key" },
    { name: "Authorization by its type", auth: undefined, type: "bearer_token" },
  ];
  for (const { name, auth, type } of placements) {
    await t.step(`a credential is sent in ${name} and kept out of every answer`, async () => {
      const { server, caller } = await setUp(
        {
          intercept: ({ url, headers }) => {
            const given = auth === undefined
              ? headers.get("authorization")?.replace("Bearer ", "")
              : auth.in === "query"
              ? url.searchParams.get("key")
              : headers.get("x-key");
            return given === CANARY ? undefined : new Response(`not ${given}`, { status: 401 });
          },
        },
        definedOnly({ auth }),
        { type, value: CANARY },
      );
      try {
        const outcome = await call(caller, "search", { searchValue: `my key is ${CANARY}` });

        assert.ok(outcome.kind === "answered" && !outcome.isError, JSON.stringify(outcome));
        assert.ok(!JSON.stringify(outcome).includes("c4n4ry"), JSON.stringify(outcome));
      } finally {
        await server.stop();
      }
    });
  }

  await t.step("a refused credential is named, but not shown", async () => {
    let isOpen = true;
    const { server, caller } = await setUp(
      { intercept: () => isOpen ? undefined : new Response(CANARY, { status: 401 }) },
      {},
      { type: "bearer_token", value: CANARY },
    );
    try {
      const tool = await fixture.findTool(caller, "search");
      isOpen = false;
      const outcome = await gateway.call(callOf(tool, caller, { searchValue: "x" }), noAbort());

      assert.ok(outcome.kind === "answered" && outcome.errorCode === "TOOL_AUTH_FAILED");
      assert.match(outcome.text, /rejected the secret 'secret_[0-9a-f-]+'/);
      assert.equal((await executionOf(outcome)).error_type, "auth_error");
    } finally {
      await server.stop();
    }
  });

  await t.step("a missing secret is named and nothing is sent", async () => {
    const server = await startMcpServer();
    const toolId = await fixture.createTool({
      type: "mcp_server",
      config: { mcp_url: server.url },
      credential: { type: "bearer_token", name: "NO_SUCH_SECRET" },
    });
    const caller = await fixture.createCaller(userId, [toolId]);
    try {
      const { tools, unavailable } = await gateway.listAgentTools(caller, noAbort());

      assert.deepEqual(tools, []);
      assert.equal(unavailable[0]?.code, "SECRET_NOT_FOUND");
      assert.match(unavailable[0]?.message ?? "", /NO_SUCH_SECRET/);
      assert.equal(server.seen.length, 0);
    } finally {
      await server.stop();
    }
  });

  await t.step("a write whose answer was lost is unknown, and ran once", async () => {
    const { server, caller } = await setUp({
      intercept: (request, answer) =>
        request.method === "tools/call" ? loseAnswer(answer) : undefined,
    });
    try {
      const outcome = await call(caller, "write_note", { text: "once" });

      assert.equal(outcome.kind, "unknown");
      assert.deepEqual(server.notes, ["once"]);
      assert.equal((await executionOf(outcome)).error_type, "outcome_unknown");
    } finally {
      await server.stop();
    }
  });

  await t.step("lost answers of a write count as consecutive failures", async () => {
    const { server, toolId } = await setUp({
      intercept: (request, answer) =>
        request.method === "tools/call" ? loseAnswer(answer) : undefined,
    });
    const caller = { ...await fixture.createCaller(await fixture.createUser(), [toolId]) };
    try {
      const outcomes = [];
      for (let n = 0; n < 3; n++) outcomes.push(await call(caller, "write_note", { text: "x" }));

      assert.deepEqual(
        outcomes.map((outcome) =>
          outcome.kind === "unknown" && [outcome.errorCode, outcome.consecutiveFailures]
        ),
        [["TOOL_OUTCOME_UNKNOWN", 1], ["TOOL_OUTCOME_UNKNOWN", 2], ["EXCEEDED_RETRIES", 3]],
      );
      const [, , last] = outcomes;
      assert.ok(last?.kind === "unknown");
      assert.match(last.hint, /failed 3 times in a row.*Check whether the call took effect/);
      assert.deepEqual(last.details, {
        reason: "consecutive_failures",
        error_code: "TOOL_OUTCOME_UNKNOWN",
      });
    } finally {
      await server.stop();
    }
  });

  await t.step("a read whose answer was lost is repeated twice", async () => {
    const { server, caller } = await setUp({
      intercept: (request, answer) =>
        request.method === "tools/call" ? loseAnswer(answer) : undefined,
    });
    try {
      const outcome = await call(caller, "search", { searchValue: "x" });

      assert.ok(outcome.kind === "answered" && outcome.errorCode === "TOOL_UNAVAILABLE");
      assert.equal(outcome.status, 502);
      const keys = server.seen.filter(({ method }) => method === "tools/call")
        .map(({ meta }) => meta?.["dev.supaswarm/idempotency_key"]);
      assert.equal(keys.length, 3);
      assert.ok(
        typeof keys[0] === "string" && new Set(keys).size === 1,
        "distinguished from new calls",
      );
    } finally {
      await server.stop();
    }
  });

  await t.step("a stream that ends without an answer is lost immediately", async () => {
    const { server, caller } = await setUp({
      intercept: ({ method }) =>
        method === "tools/call"
          ? new Response(": nothing\n\n", { headers: { "content-type": "text/event-stream" } })
          : undefined,
    }, { timeout_ms: 600_000 });
    try {
      const outcome = await call(caller, "write_note", { text: "x" });

      assert.equal(outcome.kind, "unknown");
    } finally {
      await server.stop();
    }
  });

  await t.step("a server that does not answer in time is a timeout", async () => {
    const held = Promise.withResolvers<Response>();
    const { server, caller } = await setUp({
      intercept: ({ method }) => method === "tools/call" ? held.promise : undefined,
    }, { timeout_ms: 3_000 });
    try {
      const read = await call(caller, "search", { searchValue: "x" });
      const write = await call(caller, "write_note", { text: "x" });

      assert.ok(read.kind === "answered" && read.errorCode === "TOOL_TIMEOUT");
      assert.equal(write.kind, "unknown");
      assert.equal((await executionOf(write)).status, "timeout");
    } finally {
      held.resolve(new Response(null, { status: 503 }));
      await server.stop();
    }
  });

  await t.step("a rate limited server is reported with its Retry-After", async () => {
    const { server, caller } = await setUp({
      intercept: ({ method }) =>
        method === "tools/call"
          ? new Response(null, { status: 429, headers: { "retry-after": "7" } })
          : undefined,
    });
    try {
      await assert.rejects(call(caller, "search", { searchValue: "x" }), {
        code: "TOOL_RATE_LIMITED",
        retryAfterSeconds: 7,
      });
    } finally {
      await server.stop();
    }
  });

  await t.step("an aborted call rejects with the signal's reason", async () => {
    const held = Promise.withResolvers<Response>();
    const abort = new AbortController();
    const reason = new Error("cancelled by the test");
    const { server, caller } = await setUp({
      intercept: ({ method }) => {
        if (method !== "tools/call") return undefined;
        abort.abort(reason);
        return held.promise;
      },
    });
    try {
      const tool = await fixture.findTool(caller, "search");
      const running = gateway.call(callOf(tool, caller, { searchValue: "x" }), abort.signal);

      await assert.rejects(running, (error) => error === reason);
    } finally {
      held.resolve(new Response(null, { status: 503 }));
      await server.stop();
    }
  });

  await t.step("calls that their caller cancels do not count as failures", async () => {
    let abort = new AbortController();
    let isHeld = true;
    const { server, toolId } = await setUp({
      intercept: ({ method }) => {
        if (method !== "tools/call" || !isHeld) return undefined;
        abort.abort(new Error("cancelled by the test"));
        return Promise.resolve(new Response(null, { status: 503 }));
      },
    });
    const caller = await fixture.createCaller(await fixture.createUser(), [toolId]);
    const calls = [["search", { searchValue: "x" }], ["write_note", { text: "x" }]] as const;
    try {
      for (const [name, args] of calls) {
        const tool = await fixture.findTool(caller, name);
        for (let n = 0; n < 3; n++) {
          abort = new AbortController();
          await assert.rejects(gateway.call(callOf(tool, caller, args), abort.signal));
        }
      }
      abort = new AbortController();
      abort.abort(new Error("before anything was sent"));
      const write = await fixture.findTool(caller, "write_note");
      await assert.rejects(gateway.call(callOf(write, caller, { text: "x" }), abort.signal));
      isHeld = false;
      const wrong = await call(caller, "search", { search_value: "x" });

      const rows = await sql`
        select execution.tool_name, failure.error_type, failure.error_code, count(*)::int
        from public.mcp_executions execution
        join public.mcp_failures failure on failure.execution_id = execution.id
        where execution.tool_id = ${toolId} and failure.error_code = 'TOOL_CANCELLED'
        group by 1, 2, 3 order by 1, 2`;
      assert.deepEqual(rows.map((row) => Object.values(row)), [
        ["search", "cancelled", "TOOL_CANCELLED", 3],
        ["write_note", "cancelled", "TOOL_CANCELLED", 1],
        ["write_note", "outcome_unknown", "TOOL_CANCELLED", 3],
      ]);
      assert.ok(wrong.kind === "answered" && wrong.consecutiveFailures === 1);
    } finally {
      await server.stop();
    }
  });

  await t.step("invalid arguments never reach the server", async () => {
    const { server, caller } = await setUp();
    try {
      const tool = await fixture.findTool(caller, "search");
      server.seen.length = 0;
      const outcome = await gateway.call(callOf(tool, caller, { search_value: "x" }), noAbort());

      assert.ok(outcome.kind === "answered" && outcome.errorCode === "TOOL_ARGUMENTS_INVALID");
      assert.match(outcome.text, /\$\.searchValue: it is required but missing/);
      assert.match(outcome.text, /did you mean 'searchValue'/);
      assert.equal(server.seen.length, 0);
      assert.equal((await executionOf(outcome)).error_type, "validation_error");
    } finally {
      await server.stop();
    }
  });

  await t.step("a tool with a renamed argument waits for approval", async () => {
    let argument = "searchValue";
    const { server, toolId, caller } = await setUp({ searchArgument: () => argument });
    try {
      const tool = await fixture.findTool(caller, "search");
      argument = "query";
      const first = await gateway.call(callOf(tool, caller, { searchValue: "x" }), noAbort());
      const next = await gateway.call(callOf(tool, caller, { searchValue: "x" }), noAbort());
      const offered = await gateway.listAgentTools(caller, noAbort());

      assert.ok(first.kind === "answered" && first.isError);
      assert.match(first.text, /the change is not approved yet/);
      assert.match(JSON.stringify(first.content), /the change is not approved yet/);
      assert.ok(next.kind === "answered" && next.errorCode === "TOOL_DEFINITION_CHANGED");
      assert.equal(next.status, 409);
      const { definition_hash: hash } = asJsonObject(next.details);
      assert.match(String(next.hint), new RegExp(`'search', p_definition_hash => '${hash}'\\)`));
      assert.deepEqual(offered.tools.map(({ toolName }) => toolName), ["fail", "write_note"]);

      const [connection] = await sql<{ id: string }[]>`
        select id from public.agent_mcp_connections
        where tool_id = ${toolId} and user_id = ${userId}`;
      await sql`
        select public.approve_tool_definition(
          ${connection?.id ?? null}, 'search', ${String(hash)})`;

      const renewed = await fixture.findTool(caller, "search");
      const approved = await gateway.call(callOf(renewed, caller, { query: "x" }), noAbort());
      assert.match(JSON.stringify(renewed.inputSchema), /"query"/);
      assert.ok(approved.kind === "answered" && !approved.isError, JSON.stringify(approved));
    } finally {
      await server.stop();
    }
  });

  await t.step("a tool's own error is an answer without a code", async () => {
    const { server, caller } = await setUp();
    try {
      const outcome = await call(caller, "fail", { with: "red" });

      assert.ok(outcome.kind === "answered" && outcome.isError);
      assert.equal(outcome.errorCode, undefined);
      assert.match(outcome.text, /Use another value than red/);
      assert.equal((await executionOf(outcome)).error_type, "tool_error");
    } finally {
      await server.stop();
    }
  });

  await t.step("one broken definition drops only that tool, with the reason", async () => {
    const { server, caller } = await setUp({
      intercept: async ({ method }, answer) => {
        if (method !== "tools/list") return await answer();
        const body = await (await answer()).json();
        body.result.tools.push({ name: "broken", inputSchema: "no object" });
        body.result.tools.push({
          name: "remote",
          inputSchema: { type: "object", properties: { a: { $ref: "https://example.com/a" } } },
        });
        return Response.json(body);
      },
    });
    try {
      const { tools, unavailable } = await gateway.listAgentTools(caller, noAbort());

      const names = tools.map(({ toolName }) => toolName);
      assert.deepEqual(names, ["fail", "search", "write_note"], JSON.stringify(unavailable));
      assert.equal(unavailable.length, 2);
      assert.match(unavailable[0]?.message ?? "", /'broken' .* omitted/);
      assert.match(unavailable[1]?.message ?? "", /refers to 'https:\/\/example\.com\/a'/);
    } finally {
      await server.stop();
    }
  });

  await t.step("a list is read to its last page, whatever is broken on a page", async () => {
    const pages: Readonly<Record<string, readonly unknown[]>> = {
      first: [{ name: "one", inputSchema: { type: "object" } }, { name: "broken", inputSchema: 5 }],
      "": [{ name: "two", inputSchema: { type: "object" } }, { inputSchema: {} }],
      last: [{ name: "three", inputSchema: { type: "object" } }],
    };
    // An empty string is a valid cursor.
    const next: Readonly<Record<string, string>> = { first: "", "": "last" };
    const { server, caller } = await setUp({
      intercept: async ({ method, cursor = "first" }, answer) => {
        if (method !== "tools/list") return await answer();
        const body = await (await answer()).json();
        body.result.tools = pages[cursor];
        body.result.nextCursor = next[cursor];
        return Response.json(body);
      },
    });
    try {
      const { tools, unavailable } = await gateway.listAgentTools(caller, noAbort());

      assert.deepEqual(tools.map(({ toolName }) => toolName), ["one", "three", "two"]);
      const reasons = unavailable.map(({ message }) => message);
      assert.equal(reasons.length, 2);
      assert.match(reasons[0] ?? "", /'broken' .* omitted: inputSchema/);
      assert.match(reasons[1] ?? "", /without a name/);
    } finally {
      await server.stop();
    }
  });

  await t.step("an answer above the limit is cut and marked as cut", async () => {
    const { server, caller } = await setUp({
      intercept: ({ method }) =>
        method === "tools/call" ? Response.json({ text: "x".repeat(6_000_000) }) : undefined,
    });
    try {
      const outcome = await call(caller, "search", { searchValue: "x" });

      assert.ok(outcome.kind === "answered" && outcome.errorCode === "OUTPUT_TOO_LARGE");
    } finally {
      await server.stop();
    }
  });

  await t.step("no row or log line contains a credential or the project's key", async () => {
    const tables = await sql<{ name: string }[]>`
      select format('%I.%I', table_schema, table_name) as name
      from information_schema.tables
      where table_schema in ('public', 'private') and table_type = 'BASE TABLE'`;
    for (const { name } of tables) {
      const rows = await sql.unsafe<{ line: string }[]>(
        `select row_to_json(t)::text as line from ${name} t`,
      );
      for (const { line } of rows) {
        assert.ok(!line.includes("c4n4ry") && !line.includes(SECRET_KEY), `${name}: ${line}`);
      }
    }
    assert.ok(!fixture.logged.join("\n").includes("c4n4ry"));
  });
}

/** Lets the server do its work, then breaks the connection instead of answering. */
async function loseAnswer(answer: () => Promise<Response>): Promise<Response> {
  await (await answer()).body?.cancel();
  const broken = new ReadableStream({
    pull(controller) {
      controller.enqueue(new TextEncoder().encode('{"jsonrpc":'));
      controller.error(new Error("broken off"));
    },
  });
  return new Response(broken, { headers: { "content-type": "application/json" } });
}
