import assert from "node:assert/strict";
import { loadKeys } from "../../scripts/stack/keys/keys.ts";
import { createCreateTaskApp } from "../../shared/app/create_task_app.ts";
import { createExportApp } from "../../shared/app/export_app.ts";
import { createMcpApp } from "../../shared/app/mcp_app.ts";
import { createMcpExecuteApp } from "../../shared/app/mcp_execute_app.ts";
import { createMcpFeedbackApp } from "../../shared/app/mcp_feedback_app.ts";
import { createMcpOAuthApp } from "../../shared/app/mcp_oauth_app.ts";
import { createQuothSyncApp } from "../../shared/app/quoth_sync_app.ts";
import { createWorkerApp } from "../../shared/app/worker_app.ts";
import { readConfig } from "../../shared/config/env.ts";
import type { JsonObject, JsonValue } from "../../shared/json.ts";
import { createAnthropicAdapter } from "../../shared/llm/anthropic_adapter.ts";
import { createGoogleAdapter } from "../../shared/llm/google_adapter.ts";
import type { ModelApi } from "../../shared/llm/model_port.ts";
import { createOpenAiAdapter } from "../../shared/llm/openai_adapter.ts";
import { splitMarkdown } from "../../shared/quoth/markdown/split_markdown.ts";
import { callOf, noAbort, nobody, openToolFixture } from "../tools/tool_fixture.ts";
import { ask, Swarm } from "../worker/swarm_fixture.ts";
import { HOSTILE_VALUES } from "./hostile_json.ts";
import { watchLoop } from "./loop_watch.ts";

/** The event loop may stand still for this long, in processor time. */
const MAX_BLOCKED_MS = 200;
/** Somebody else's call in the meantime takes no longer. */
const MAX_BYSTANDER_MS = 1_000;
/** A pause of the garbage collector, or of the machine, is not repeated. */
const TRIES = 3;

interface Measured {
  readonly blockedMs: number;
  readonly bystanderMs: number;
}

/** Runs what may block, beside a bystander, and fails when it does each time. */
async function assertDoesNotBlock(
  name: string,
  run: () => Promise<unknown>,
  bystander: () => Promise<unknown> = () => Promise.resolve(),
): Promise<void> {
  const tries: Measured[] = [];
  for (let count = 0; count < TRIES; count++) {
    const measured = await measure(run, bystander);
    if (measured.blockedMs <= MAX_BLOCKED_MS && measured.bystanderMs <= MAX_BYSTANDER_MS) return;
    tries.push(measured);
  }
  assert.fail(`${name}: ${JSON.stringify(tries)}`);
}

async function measure(
  run: () => Promise<unknown>,
  bystander: () => Promise<unknown>,
): Promise<Measured> {
  using watch = watchLoop();
  const hostile = run().catch(() => {});
  const startedAtMs = performance.now();
  await bystander();
  const bystanderMs = performance.now() - startedAtMs;
  await hostile;
  return { blockedMs: watch.longestMs, bystanderMs };
}

interface Endpoint {
  readonly path: string;
  readonly app: { fetch(request: Request): Promise<Response> };
  /** A body that holds the value where callers' values stand. */
  readonly bodyOf: (value: string) => string;
  readonly headers?: Readonly<Record<string, string>>;
}

Deno.test("no input stops the endpoints, and a bystander's call goes on", async (t) => {
  const swarm = await Swarm.open();
  const keys = await loadKeys(null);
  const environment: Record<string, string> = {
    SUPABASE_URL: "http://127.0.0.1:9",
    SUPABASE_DB_URL: swarm.url,
    SUPABASE_PUBLISHABLE_KEYS: JSON.stringify({ default: keys.publishableKey }),
    SUPABASE_SECRET_KEYS: JSON.stringify({ default: keys.secretKey }),
    SUPABASE_JWKS: JSON.stringify(keys.jwks),
    SUPASWARM_ALLOW_LOOPBACK: "true",
  };
  const config = readConfig((name) => environment[name]);
  const log = () => {};
  const userId = crypto.randomUUID();
  await swarm.sql`insert into auth.users (id, email) values (${userId}, 'a@example.org')`;
  const exp = Math.floor(Date.now() / 1_000) + 3_600;
  const token = await keys.signUserToken({
    sub: userId,
    role: "authenticated",
    exp,
    aud: "authenticated",
  });
  const asUser = { apikey: keys.publishableKey, authorization: `Bearer ${token}` };
  const asService = { apikey: keys.secretKey };
  const apps = {
    create: createCreateTaskApp(config, log),
    execute: createMcpExecuteApp(config, log),
    mcp: createMcpApp(config, log),
    feedback: createMcpFeedbackApp(config, log),
    oauth: createMcpOAuthApp(config, log),
    sync: createQuothSyncApp(config, log),
    export: createExportApp(config, log),
  };
  const worker = createWorkerApp(config, log);
  const toolCall = (value: string, name: string) =>
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":${value}}}`;
  const endpoints: Readonly<Record<string, Endpoint>> = {
    "supaswarm-create-task": {
      path: "/supaswarm-create-task",
      app: apps.create,
      bodyOf: (value) =>
        `{"agent":"test-reader","input":{"v":${value}},"run_after":"2099-01-01T00:00:00Z"}`,
    },
    "mcp-execute": {
      path: "/mcp-execute",
      app: apps.execute,
      bodyOf: (value) => `{"server":"swarm","tool_name":"list_tasks","parameters":${value}}`,
    },
    "mcp-execute, a member": {
      path: "/mcp-execute",
      app: apps.execute,
      bodyOf: (value) =>
        `{"server":"swarm","tool_name":"list_tasks","parameters":{"status":${value}}}`,
    },
    "mcp": {
      path: "/mcp/swarm",
      app: apps.mcp,
      bodyOf: (value) => toolCall(value, "list_tasks"),
      headers: { accept: "application/json, text/event-stream" },
    },
    "mcp, all servers": {
      path: "/mcp",
      app: apps.mcp,
      bodyOf: (value) => toolCall(`{"status":${value}}`, "swarm__list_tasks"),
      headers: { accept: "application/json, text/event-stream" },
    },
    "mcp, a batch": {
      path: "/mcp/swarm",
      app: apps.mcp,
      bodyOf: (value) => value,
      headers: { accept: "application/json, text/event-stream" },
    },
    "mcp-feedback": {
      path: "/mcp-feedback",
      app: apps.feedback,
      bodyOf: (value) => `{"feedback_token":${value}}`,
    },
    "mcp-oauth": {
      path: "/mcp-oauth",
      app: apps.oauth,
      bodyOf: (value) => `{"server":${value}}`,
    },
    "mcp-oauth, confirmation": {
      path: "/mcp-oauth/confirm",
      app: apps.oauth,
      bodyOf: (value) => `{"confirmation":${value}}`,
    },
    "quoth-sync, files": {
      path: "/quoth-sync",
      app: apps.sync,
      bodyOf: (value) => `{"project":"handbook","files":${value}}`,
    },
    "quoth-sync, a webhook": {
      path: "/quoth-sync/handbook",
      app: apps.sync,
      bodyOf: (value) => `{"repository":{"full_name":"a/b"},"x":${value}}`,
      headers: { "x-github-event": "push", "x-hub-signature-256": `sha256=${"0".repeat(64)}` },
    },
    "quoth-sync, an old webhook": {
      path: "/quoth-sync",
      app: apps.sync,
      bodyOf: (value) => `{"repository":{"full_name":"a/b"},"x":${value}}`,
      headers: { "x-github-event": "push", "x-hub-signature-256": `sha256=${"0".repeat(64)}` },
    },
    "supaswarm-export": {
      path: "/supaswarm-export",
      app: apps.export,
      bodyOf: (value) => `{"from":${value}}`,
    },
    "supaswarm-worker": {
      path: "/supaswarm-worker",
      app: worker,
      bodyOf: (value) => value,
      headers: { apikey: "sb_secret_wrong" },
    },
  };
  const send = async (
    { path, app }: Pick<Endpoint, "path" | "app">,
    headers: Readonly<Record<string, string>>,
    body: Uint8Array<ArrayBuffer> | string,
  ) => {
    const request = new Request(`http://localhost${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body,
    });
    const response = await app.fetch(request);
    return { status: response.status, text: await response.text() };
  };
  const bystander = async () => {
    const { status } = await send(
      { path: "/mcp-execute", app: apps.execute },
      asService,
      JSON.stringify({ server: "swarm", tool_name: "list_agents", parameters: {} }),
    );
    assert.equal(status, 200);
  };

  try {
    // What is imported when it is first needed is imported now.
    await bystander();
    for (const { path, app, bodyOf, headers } of Object.values(endpoints)) {
      for (const who of [asUser, asService]) {
        await send({ path, app }, { ...who, ...headers }, bodyOf("{}"));
      }
    }

    for (const [name, endpoint] of Object.entries(endpoints)) {
      await t.step(name, async () => {
        for (const [kind, value] of Object.entries(HOSTILE_VALUES)) {
          const body = new TextEncoder().encode(endpoint.bodyOf(value));
          for (const who of [asUser, asService]) {
            const headers = { ...who, ...endpoint.headers };
            await assertDoesNotBlock(
              `${kind} to ${name}`,
              async () => {
                const { status } = await send(endpoint, headers, body);
                assert.ok(status !== 500, `${kind} to ${name} is an internal error`);
              },
              bystander,
            );
          }
        }
      });
    }
  } finally {
    worker.unload();
    for (const app of Object.values(apps)) await app.close();
    await swarm.close();
  }
});

Deno.test("no tool server stops the gateway", async (t) => {
  const fixture = await openToolFixture();
  const secret = await fixture.storeSecret("sk-a-credential-of-this-test");
  let answer: (id: JsonValue) => Response = () => new Response(null, { status: 500 });
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      const body = request.method === "POST" ? await request.json() : {};
      return answer(body.id ?? null);
    },
  );
  const url = `http://127.0.0.1:${server.addr.port}`;
  const caller = nobody();
  const json = (text: string) =>
    new Response(text, { headers: { "content-type": "application/json" } });
  const events = (text: string) =>
    new Response(text, { headers: { "content-type": "text/event-stream" } });

  try {
    await t.step("answers of an HTTP API", async () => {
      const toolId = await fixture.createTool({
        type: "http_api",
        config: { method: "POST", url: `${url}/x`, parameters: { type: "object", properties: {} } },
        credential: { type: "bearer", name: secret },
      });
      const agent = await fixture.createCaller(null, [toolId]);
      answer = () => json('{"warm":1}');
      const { tools: [tool] } = await fixture.gateway.listAgentTools(agent, noAbort());
      assert.ok(tool !== undefined);
      const call = () => fixture.gateway.call(callOf(tool, agent, {}), noAbort());
      await call();
      const members = Array.from({ length: 400_000 }, (_, number) => `"k${number}":1`);
      const kinds = { ...HOSTILE_VALUES, "400,000 members": `{${members.join()}}` };
      for (const [kind, value] of Object.entries(kinds)) {
        answer = () => json(value);
        await assertDoesNotBlock(`${kind} of an HTTP API`, call);
      }
    });

    await t.step("lists and answers of an MCP server", async () => {
      const slugOf = async () => {
        const toolId = await fixture.createTool({
          type: "mcp_server",
          config: { mcp_url: `${url}/mcp` },
        });
        const [row] = await fixture.sql`select slug from public.tools where id = ${toolId}::uuid`;
        return String(row?.slug);
      };
      const refs = (count: number, name: string) => Array(count).fill({ $ref: `#/$defs/${name}` });
      const schemas: Readonly<Record<string, JsonObject>> = {
        "a bomb of references": {
          type: "object",
          properties: { x: { $ref: "#/$defs/a" } },
          $defs: {
            a: { anyOf: refs(20, "b") },
            b: { anyOf: refs(20, "c") },
            c: { anyOf: refs(20, "d") },
            d: { type: "string" },
          },
        },
        "a pattern without end": {
          type: "object",
          properties: { x: { type: "string", pattern: "^(a+)+$" } },
        },
        "many properties": {
          type: "object",
          properties: Object.fromEntries(
            Array.from({ length: 5_000 }, (_, number) => [`p${number}`, { type: "string" }]),
          ),
        },
        "choices in choices": Array.from({ length: 25 }).reduce<JsonObject>(
          (inner) => ({ type: "object", anyOf: [{ properties: { x: inner } }, inner] }),
          { type: "object" },
        ),
      };
      const text = (id: JsonValue, result: JsonValue) =>
        JSON.stringify({ jsonrpc: "2.0", id, result });
      for (const [kind, inputSchema] of Object.entries(schemas)) {
        for (const count of [1, 100]) {
          const tools = Array.from(
            { length: count },
            (_, number) => ({ name: `t${number}`, inputSchema }),
          );
          const slug = await slugOf();
          answer = (id) =>
            json(
              text(id, {
                tools,
                protocolVersion: "2025-06-18",
                capabilities: { tools: {} },
                serverInfo: { name: "x", version: "1" },
              }),
            );
          await assertDoesNotBlock(
            `${count} tools with ${kind}`,
            () => fixture.gateway.listServerTools(slug, caller, { refresh: true }, noAbort()),
          );
        }
      }
      for (const [kind, value] of Object.entries(HOSTILE_VALUES)) {
        const result =
          `{"content":[{"type":"text","text":"x"}],"structuredContent":{"v":${value}},` +
          `"tools":[{"name":"t","inputSchema":{"type":"object","x":${value}}}]}`;
        const forms = {
          json: (id: JsonValue) => json(`{"jsonrpc":"2.0","id":${id},"result":${result}}`),
          events: (id: JsonValue) =>
            events(`data: {"jsonrpc":"2.0","id":${id},"result":${result}}\n\n`),
        };
        for (const [form, answered] of Object.entries(forms)) {
          const slug = await slugOf();
          answer = answered;
          await assertDoesNotBlock(
            `${kind} of an MCP server as ${form}`,
            () => fixture.gateway.listServerTools(slug, caller, {}, noAbort()),
          );
        }
      }
      const slug = await slugOf();
      answer = () => events("data: {}\n\n".repeat(400_000));
      await assertDoesNotBlock(
        "400,000 events",
        () => fixture.gateway.listServerTools(slug, caller, {}, noAbort()),
      );
    });
  } finally {
    await server.shutdown();
    await fixture.stop();
  }
});

Deno.test("no model stops the worker", async (t) => {
  const adapters = {
    openai: createOpenAiAdapter,
    anthropic: createAnthropicAdapter,
    google: createGoogleAdapter,
  };
  const wholeOf: Readonly<Record<ModelApi, (value: string) => string>> = {
    openai: (value) =>
      `{"choices":[{"message":{"content":"x","tool_calls":[{"id":"1","function":{"name":"t","arguments":${
        JSON.stringify(value)
      }}}]},"finish_reason":"stop"}]}`,
    anthropic: (value) =>
      `{"content":[{"type":"tool_use","id":"1","name":"t","input":{"x":${value}}}],"stop_reason":"end_turn","usage":{}}`,
    google: (value) =>
      `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"t","args":{"x":${value}}}}]},"finishReason":"STOP"}]}`,
  };
  const inputSchema: JsonObject = {
    type: "object",
    properties: {
      x: {
        anyOf: [{
          type: "array",
          items: { anyOf: [{ type: "string" }, { type: "object", properties: { a: {} } }] },
        }, { type: "string" }],
      },
      y: { type: "string" },
    },
  };
  for (const api of Object.keys(adapters) as ModelApi[]) {
    await t.step(api, async () => {
      const generate = (text: string, type: string, isStream: boolean) => {
        const adapter = adapters[api]({
          api,
          providerName: "hostile",
          baseUrl: "http://127.0.0.1:9",
          apiKey: "sk-test",
        }, {
          fetch: () => Promise.resolve(new Response(text, { headers: { "content-type": type } })),
        });
        const request = {
          model: "m",
          system: "",
          messages: [{ role: "user" as const, text: "x" }],
          tools: [{ name: "t", description: "t", inputSchema }],
        };
        return adapter.generate(
          request,
          { signal: noAbort(), ...(isStream ? { onDelta: () => {} } : {}) },
        );
      };
      await generate(wholeOf[api]('"x"'), "application/json", false).catch(() => {});
      for (const [kind, value] of Object.entries(HOSTILE_VALUES)) {
        await assertDoesNotBlock(
          `${kind} of ${api}`,
          () => generate(wholeOf[api](value), "application/json", false),
        );
        await assertDoesNotBlock(
          `${kind} in a stream of ${api}`,
          () => generate(`data: ${wholeOf[api](value)}\n\n`, "text/event-stream", true),
        );
      }
      await assertDoesNotBlock(
        `small events of ${api}`,
        () => generate("data: {}\n\n".repeat(200_000), "text/event-stream", true),
      );
    });
  }
});

Deno.test("no request or argument stops an agent", async () => {
  const swarm = await Swarm.open();
  const wide = Object.fromEntries(Array.from({ length: 20_000 }, (_, number) => [`k${number}`, 1]));
  const modelTurns: readonly JsonObject[] = [
    { text: "a".repeat(200_000) },
    wide,
    { to: "a@".repeat(100_000), "\ud800": "x" },
  ];
  const tool = {
    modelName: "mail__send",
    server: "mail",
    toolName: "send",
    description: "Sends.",
    inputSchema: {
      type: "object",
      properties: { to: { type: "string", format: "email" }, text: { type: "string" } },
      required: ["to"],
      additionalProperties: false,
    },
    isRepeatable: true,
    examples: [],
  };
  let turn = 0;
  const worker = swarm.startWorker({
    tools: [tool as never],
    model: () => {
      const args = modelTurns[turn++];
      return args === undefined ? { text: "done" } : { calls: [ask("mail__send", args)] };
    },
    callTool: () => ({
      kind: "answered",
      text: "to: missing",
      content: [],
      isError: true,
      status: 422,
      errorCode: "TOOL_ARGUMENTS_INVALID",
      executionId: crypto.randomUUID(),
      feedbackToken: "feedback",
    }),
  });
  try {
    for (const input of ["a", "a@", "a.", '"', "http://", "1", "-", "'"]) {
      await assertDoesNotBlock(`the request "${input}…"`, async () => {
        turn = 0;
        const taskId = await swarm.createTask(input.repeat(200_000 / input.length));
        worker.worker.wake?.();
        await swarm.until(taskId, "completed", 30_000);
      });
    }
  } finally {
    await worker.stop();
    await swarm.close();
  }
});

Deno.test("no document stops the sync", async () => {
  const size = 1_000_000;
  const fill = (part: string) => part.repeat(Math.floor(size / part.length));
  const documents: Readonly<Record<string, string>> = {
    "one line": fill("a"),
    "quotes": fill("> "),
    "quotes in quotes": Array.from({ length: 400 }, (_, level) => `${"> ".repeat(level)}x`).join(
      "\n",
    ),
    "lists": fill("- "),
    "nested lists": Array.from({ length: 1_000 }, (_, level) => `${"  ".repeat(level)}- x`).join(
      "\n",
    ),
    "emphasis": fill("*a_ "),
    "links": fill("[a]("),
    "tables": `|a|\n|-|\n${fill("|b|\n")}`,
    "wide tables": `${fill("|a")}\n${fill("|-")}\n`,
    "headings": fill("## a\n"),
    "heading marks": fill("# "),
    "backticks": fill("`"),
    "fences": fill("```\n"),
    "html": fill("<a "),
    "front matter": `---\n${"a: &a [*a]\n".repeat(5_000)}---\n`,
    "empty lines": fill("\n"),
  };
  await splitMarkdown("# Warm\n\ntext\n", { filePath: "a.md", maxTokens: 480 });
  for (const [kind, text] of Object.entries(documents)) {
    await assertDoesNotBlock(kind, () => splitMarkdown(text, { filePath: "a.md", maxTokens: 480 }));
  }
});
