import assert from "node:assert/strict";
import type { JsonObject } from "../../../shared/platform/values/json.ts";
import { modelNames } from "../../../shared/models/tool_schemas/model_names.ts";
import type { ToolCallOutcome } from "../../../shared/gateway/tool_contracts/tool_call.ts";
import { waitFor } from "../../../scripts/wait_for.ts";
import { type McpFixtureOptions, startMcpServer } from "./mcp_fixture.ts";
import { openFixtureOnSharedDatabase } from "./shared_database.ts";
import { callOf, noAbort, nobody } from "./tool_fixture.ts";

const SSE = { "content-type": "text/event-stream" };

/** The stream that never answers lasts this long. */
const CALL_LIMIT_MS = 5_000;

/** Each misbehavior of a server in a call of a write, and its result. */
const MISBEHAVIOURS: readonly {
  readonly name: string;
  readonly answer: () => Response;
  readonly expected: string;
}[] = [
  {
    name: "a stream that sends comments and never answers",
    answer: () => new Response(drip(), { headers: SSE }),
    expected: "unknown",
  },
  {
    name: "an event that is not JSON",
    answer: () => new Response("event: message\ndata: {no json\n\n", { headers: SSE }),
    expected: "unknown",
  },
  {
    name: "a body that is not JSON-RPC",
    answer: () => Response.json({ surprise: true }),
    expected: "unknown",
  },
  {
    name: "an HTML page",
    answer: () => new Response("<html>", { headers: { "content-type": "text/html" } }),
    expected: "unknown",
  },
  {
    name: "a redirect to the metadata service",
    answer: () =>
      new Response(null, { status: 307, headers: { location: "http://169.254.169.254/latest" } }),
    expected: "TOOL_ADDRESS_FORBIDDEN",
  },
  {
    name: "a refusal",
    answer: () => new Response("no", { status: 403 }),
    expected: "TOOL_AUTH_FAILED",
  },
  { name: "a crash", answer: () => new Response("boom", { status: 500 }), expected: "unknown" },
];

Deno.test("each kind of misbehavior has its own error class", async (t) => {
  const fixture = await openFixtureOnSharedDatabase();
  const { gateway } = fixture;

  async function register(
    options: McpFixtureOptions,
    { credential, timeoutMs = 60_000 }: { credential?: string; timeoutMs?: number } = {},
  ) {
    const server = await startMcpServer(options);
    const toolId = await fixture.createTool({
      type: "mcp_server",
      config: { mcp_url: server.url, timeout_ms: timeoutMs },
      ...credential === undefined
        ? {}
        : { credential: { type: "bearer_token", name: await fixture.storeSecret(credential) } },
    });
    const [row] = await fixture.sql<{ slug: string }[]>`
      select slug from public.tools where id = ${toolId}`;
    return { server, slug: row?.slug ?? "" };
  }

  function call(slug: string, toolName: string, args: JsonObject): Promise<ToolCallOutcome> {
    return gateway.call(callOf({ server: slug, toolName }, nobody(), args), noAbort());
  }

  /** Seconds since the server's list was stored. */
  async function listedAgo(slug: string): Promise<number> {
    const [row] = await fixture.sql<{ seconds: number }[]>`
      select extract(epoch from now() - connection.tools_listed_at)::float8 as seconds
      from public.agent_mcp_connections as connection
      join public.tools as tool on tool.id = connection.tool_id
      where tool.slug = ${slug} and connection.tools_listed_at is not null`;
    return row?.seconds ?? Infinity;
  }

  // The first connection of a process also loads the client's modules, which counts as the server's.
  const usual = await register({});
  await gateway.listServerTools(usual.slug, nobody(), {}, noAbort());
  await usual.server.stop();

  for (const { name, answer, expected } of MISBEHAVIOURS) {
    await t.step(name, async () => {
      const { server, slug } = await register({
        intercept: ({ method }) => method === "tools/call" ? answer() : undefined,
      }, { timeoutMs: CALL_LIMIT_MS });
      try {
        const outcome = await call(slug, "write_note", { text: "x" });

        const found = outcome.kind === "answered" ? outcome.errorCode : outcome.kind;
        assert.equal(found, expected, JSON.stringify(outcome));
        const calls = server.seen.filter(({ method }) => method === "tools/call");
        assert.equal(calls.length, 1, "a write is sent once");
      } finally {
        for (const end of endDrips) end();
        endDrips.clear();
        await server.stop();
      }
    });
  }

  await t.step("a session that is dropped between calls is created again, once", async () => {
    const dropped = new Set<string>();
    const { server, slug } = await register({
      era: "legacy",
      intercept: ({ headers }) =>
        dropped.has(headers.get("mcp-session-id") ?? "")
          ? new Response("no such session", { status: 404 })
          : undefined,
    });
    try {
      await call(slug, "write_note", { text: "one" });
      for (const { headers } of server.seen) dropped.add(headers.get("mcp-session-id") ?? "");
      dropped.delete("");
      server.seen.length = 0;

      const outcome = await call(slug, "write_note", { text: "two" });

      assert.ok(outcome.kind === "answered" && !outcome.isError, JSON.stringify(outcome));
      assert.deepEqual(server.notes, ["one", "two"]);
      const greetings = server.seen.filter(({ method }) => method === "initialize");
      assert.equal(greetings.length, 1);
    } finally {
      await server.stop();
    }
  });

  await t.step("names with hidden characters are dropped, look-alikes stay distinct", async () => {
    const hidden = ["note\u200b", "\u202enote", "note\n", "note\u0000", "x".repeat(10_000)];
    const shown = ["nоte", "note.v2", "note/now", "note with words", "笔记"];
    const { server, slug } = await register({
      intercept: async ({ method }, answer) => {
        if (method !== "tools/list") return await answer();
        const body = await (await answer()).json();
        const inputSchema = { type: "object", properties: {} };
        body.result.tools = [...hidden, ...shown].map((name) => ({ name, inputSchema }));
        return Response.json(body);
      },
    });
    try {
      const { tools, dropped } = await gateway.listServerTools(slug, nobody(), {}, noAbort());

      assert.deepEqual(tools.map(({ name }) => name).sort(), [...shown].sort());
      assert.equal(dropped.length, hidden.length);
      for (const { name } of dropped) assert.match(name, /^[\p{L}\p{N}\p{S} ()]{1,130}$/u);
      const names = modelNames(tools.map(({ name }) => ({ server: slug, toolName: name })));
      assert.equal(new Set(names).size, shown.length);
      assert.ok(names.every((name) => /^[\w-]{1,64}$/.test(name)), names.join());
    } finally {
      await server.stop();
    }
  });

  await t.step("progress, logs and broken definitions do not contain the credential", async () => {
    const secret = "AKIA/abc+defgh==";
    const escaped = secret.replaceAll("/", "\\\\/");
    const leak = `${secret} or ${escaped} ${"long ".repeat(10_000)}`;
    const { server, slug } = await register({
      intercept: async ({ method, meta }, answer) => {
        if (method === "tools/list") {
          const body = await (await answer()).json();
          body.result.tools.push({ name: `of ${secret}`, inputSchema: { type: escaped } });
          return Response.json(body);
        }
        if (method !== "tools/call") return await answer();
        const { progressToken } = meta ?? {};
        return streamMessages([
          {
            method: "notifications/progress",
            params: { progressToken, progress: 1, message: leak },
          },
          { method: "notifications/message", params: { level: "info", logger: leak, data: leak } },
          { method: "notifications/message", params: { level: "info", data: { [leak]: [leak] } } },
        ], await answer());
      },
    }, { credential: secret });
    const messages: unknown[] = [];
    try {
      const outcome = await gateway.call({
        ...callOf({ server: slug, toolName: "write_note" }, nobody(), { text: "x" }),
        onProgress: (progress) => messages.push(progress),
        logs: { level: "debug", write: (message) => messages.push(message) },
      }, noAbort());
      const { dropped } = await gateway.listServerTools(slug, nobody(), {}, noAbort());

      assert.ok(outcome.kind === "answered" && !outcome.isError, JSON.stringify(outcome));
      assert.equal(messages.length, 3, "all messages arrive");
      assert.deepEqual(dropped.map(({ name }) => name), ["of [redacted]"]);
      const shown = JSON.stringify([messages, dropped]);
      assert.ok(shown.includes("[redacted]") && !shown.includes("defgh"), shown.slice(0, 1_000));
      assert.ok(shown.length < 50_000, "long messages are cut");
    } finally {
      await server.stop();
    }
  });

  await t.step("only definitions that cannot be stored are dropped", async () => {
    const half = `${"x".repeat(127)}😀`;
    const names = [
      "bad\u0000name",
      half,
      ...Array.from({ length: 150 }, (_, at) => `broken-${at}`),
    ];
    const { server, slug } = await register({
      intercept: withTools([
        ...names.map((name) => ({ name, inputSchema: { type: "string" } })),
        { name: "same\u0000", inputSchema: { type: "object" } },
        { name: "same\uFFFD", inputSchema: { type: "object" } },
      ]),
    });
    try {
      const { tools, dropped } = await gateway.listServerTools(slug, nobody(), {}, noAbort());

      assert.deepEqual(tools.map(({ name }) => name), [
        "fail",
        "same\uFFFD",
        "search",
        "write_note",
      ]);
      assert.deepEqual(dropped.slice(0, 2).map(({ name }) => name), [
        "bad\uFFFDname",
        `${"x".repeat(127)}\uFFFD`,
      ]);
      assert.equal(dropped.length, 101);
      assert.match(dropped.at(-1)?.reason ?? "", /^53 more/);
    } finally {
      await server.stop();
    }
  });

  await t.step("a server's description of itself is kept, whatever its text", async () => {
    const { server, slug } = await register({
      era: "legacy",
      intercept: async ({ method }, answer) => {
        const response = await answer();
        if (method !== "initialize") return response;
        const isStream = response.headers.get("content-type")?.includes("event-stream") ?? false;
        const text = await response.text();
        const body = JSON.parse(isStream ? text.slice(text.indexOf("{")) : text);
        body.result.instructions = "Ask\0 \ud800";
        const session = response.headers.get("mcp-session-id");
        return Response.json(body, {
          headers: session === null ? {} : { "mcp-session-id": session },
        });
      },
    });
    try {
      await gateway.listServerTools(slug, nobody(), {}, noAbort());

      const [row] = await fixture.sql`
        select connection.session ->> 'instructions' as instructions
        from public.agent_mcp_connections as connection
        join public.tools as tool on tool.id = connection.tool_id
        where tool.slug = ${slug}`;
      assert.equal(row?.instructions, "Ask\ufffd \ufffd");
    } finally {
      await server.stop();
    }
  });

  await t.step("a flood of notifications is cut off before it uses up the isolate", async () => {
    const progress = {
      method: "notifications/progress",
      params: { progressToken: 1, progress: 1 },
    };
    const { server, slug } = await register({
      intercept: async ({ method }, answer) =>
        method === "tools/call"
          ? await streamMessages(Array(60_000).fill(progress), await answer())
          : await answer(),
    });
    try {
      await gateway.listServerTools(slug, nobody(), {}, noAbort());
      const outcome = await call(slug, "search", { searchValue: "x" });

      assert.ok(outcome.kind === "answered" && outcome.errorCode === "OUTPUT_TOO_LARGE");
      assert.match(outcome.text, /more than 10000 events/);
    } finally {
      await server.stop();
    }
  });

  await t.step("a call is recorded although its arguments are cut within a character", async () => {
    const { server, slug } = await register({});
    try {
      for (const before of ["", "x"]) {
        await call(slug, "write_note", { text: before + "😀".repeat(20_000) });
      }

      const recorded = await fixture.sql`
        select request_data ->> 'truncated' as is_cut, status
        from public.mcp_executions where mcp_name = ${slug}`;
      assert.deepEqual(recorded.map((row) => ({ ...row })), [
        { is_cut: "true", status: "success" },
        { is_cut: "true", status: "success" },
      ]);
    } finally {
      await server.stop();
    }
  });

  await t.step("a list with too many broken definitions is refused", async () => {
    const broken = Array.from({ length: 20_000 }, () => ({ name: "broken", inputSchema: {} }));
    const { server, slug } = await register({ intercept: withTools(broken) });
    try {
      await assert.rejects(gateway.listServerTools(slug, nobody(), {}, noAbort()), {
        code: "TOOL_UNAVAILABLE",
      });
    } finally {
      await server.stop();
    }
  });

  await t.step("a list that the database refuses counts against that server", async () => {
    const { server, slug } = await register({});
    await fixture.sql.unsafe(`
      alter table public.mcp_tools_cache add constraint refuses check (tool_name <> 'fail') not valid`);
    try {
      await assert.rejects(gateway.listServerTools(slug, nobody(), {}, noAbort()), {
        code: "TOOL_UNAVAILABLE",
        message: /cannot be stored/,
      });
    } finally {
      await fixture.sql`alter table public.mcp_tools_cache drop constraint refuses`;
      await server.stop();
    }
  });

  await t.step("a hanging server does not delay callers with an older list", async () => {
    const hanging = Promise.withResolvers<void>();
    let hangs = false;
    const { server, slug } = await register({
      intercept: async ({ method }, answer) => {
        if (hangs && method === "tools/list") await hanging.promise;
        return await answer();
      },
    });
    try {
      await gateway.listServerTools(slug, nobody(), {}, noAbort());
      await fixture.sql`
        update public.agent_mcp_connections
        set tools_listed_at = tools_listed_at - interval '1 hour'
        where tool_id = (select id from public.tools where slug = ${slug})`;
      hangs = true;
      const asked = await Promise.all(
        [1, 2].map(() => gateway.listServerTools(slug, nobody(), {}, noAbort())),
      );

      assert.deepEqual(asked.map(({ tools }) => tools.length), [3, 3]);
      assert.deepEqual(asked.map(({ listingError }) => listingError), [undefined, undefined]);
      hanging.resolve();
      await waitFor(async () => (await listedAgo(slug)) < 60);
    } finally {
      hanging.resolve();
      await server.stop();
    }
  });

  await t.step(
    "a caller that lists all servers waits for a new hanging one as configured",
    async () => {
      const hanging = Promise.withResolvers<void>();
      const { server, slug } = await register({
        intercept: async ({ method }, answer) => {
          if (method === "tools/list") await hanging.promise;
          return await answer();
        },
      });
      try {
        await assert.rejects(
          gateway.listServerTools(slug, nobody(), { firstWaitMs: 200 }, noAbort()),
          { code: "TOOL_UNAVAILABLE", message: /has not listed its tools yet/ },
        );
        hanging.resolve();
        await waitFor(async () => (await listedAgo(slug)) < 60);
      } finally {
        hanging.resolve();
        await server.stop();
      }
    },
  );

  await t.step("an endless list is refused", async () => {
    let page = 0;
    const { server, slug } = await register({
      intercept: async ({ method }, answer) => {
        if (method !== "tools/list") return await answer();
        const body = await (await answer()).json();
        body.result.tools = [{ name: `t${page++}`, inputSchema: { type: "object" } }];
        body.result.nextCursor = String(page);
        return Response.json(body);
      },
    });
    try {
      await assert.rejects(gateway.listServerTools(slug, nobody(), {}, noAbort()), {
        code: "TOOL_UNAVAILABLE",
      });
      assert.ok(page <= 50);
    } finally {
      await server.stop();
    }
  });

  await fixture.stop();
});

/** Adds tools to the list of a server. */
function withTools(tools: readonly JsonObject[]): NonNullable<McpFixtureOptions["intercept"]> {
  return async ({ method }, answer) => {
    if (method !== "tools/list") return await answer();
    const body = await (await answer()).json();
    body.result.tools.push(...tools);
    return Response.json(body);
  };
}

/** Notifications before an answer. */
async function streamMessages(
  notifications: readonly { readonly method: string; readonly params: unknown }[],
  answer: Response,
): Promise<Response> {
  const last = answer.headers.get("content-type")?.includes("event-stream")
    ? await answer.text()
    : `event: message\ndata: ${await answer.text()}\n\n`;
  const events = notifications.map((notification) =>
    `event: message\ndata: ${JSON.stringify({ jsonrpc: "2.0", ...notification })}\n\n`
  );
  return new Response(`${events.join("")}${last}`, { headers: SSE });
}

/** Ends streams that still send comments, which would keep their server open. */
const endDrips = new Set<() => void>();

/** A comment every 50 ms, as from a server that only wants to hold its caller. */
function drip(): ReadableStream<Uint8Array> {
  let timer: ReturnType<typeof setInterval> | undefined;
  return new ReadableStream({
    start(controller) {
      timer = setInterval(() => controller.enqueue(new TextEncoder().encode(": .\n\n")), 50);
      endDrips.add(() => {
        clearInterval(timer);
        controller.close();
      });
    },
    cancel: () => {
      clearInterval(timer);
      endDrips.clear();
    },
  });
}
