import assert from "node:assert/strict";
import { ensureKeys } from "../../stack/keys/keys.ts";
import { createCreateTaskApp } from "../../shared/app/create_task_app.ts";
import { createExportApp } from "../../shared/app/export_app.ts";
import { createMcpApp } from "../../shared/app/mcp_app.ts";
import { createMcpExecuteApp } from "../../shared/app/mcp_execute_app.ts";
import { createMcpFeedbackApp } from "../../shared/app/mcp_feedback_app.ts";
import { createMcpOAuthApp } from "../../shared/app/mcp_oauth_app.ts";
import { createQuothSyncApp } from "../../shared/app/quoth_sync_app.ts";
import { createWebhooksApp } from "../../shared/app/webhooks_app.ts";
import { createWorkerApp } from "../../shared/app/worker_app.ts";
import { readConfig } from "../../shared/platform/config/env.ts";
import type { JsonObject } from "../../shared/platform/values/json.ts";
import type { AgentTool } from "../../shared/gateway/tool_contracts/agent_tool.ts";
import { ask, Swarm } from "../engine/worker/swarm_fixture.ts";
import { assertDoesNotBlock } from "./blocked_loop.ts";
import { HOSTILE_VALUES } from "./hostile_json.ts";

interface Endpoint {
  readonly path: string;
  readonly app: { fetch(request: Request): Promise<Response> };
  /** A body that contains the value in every place of callers' values. */
  readonly bodyOf: (value: string) => string;
  readonly headers?: Readonly<Record<string, string>>;
}

// The runner leaves the database's WebAssembly unoptimized, which these tests would measure.
Deno.env.delete("DENO_V8_FLAGS");

Deno.test("no input blocks the endpoints, and a bystander's call continues", async (t) => {
  const swarm = await Swarm.open();
  const keys = await ensureKeys(null);
  const environment: Record<string, string> = {
    SUPABASE_URL: "http://127.0.0.1:9",
    SUPABASE_DB_URL: swarm.url,
    SUPABASE_PUBLISHABLE_KEYS: JSON.stringify({ default: keys.publishableKey }),
    SUPABASE_SECRET_KEYS: JSON.stringify({ default: keys.secretKey }),
    SUPABASE_JWKS: JSON.stringify(keys.jwks),
    SUPASWARM_ALLOW_LOOPBACK: "true",
    // One process serves all of them, and together they take more CPU than an isolate has.
    SUPASWARM_CPU_HARD_MS: "0",
  };
  const config = readConfig((name) => environment[name]);
  const log = () => {};
  const userId = crypto.randomUUID();
  await swarm.sql`insert into auth.users (id, email) values (${userId}, 'a@example.org')`;
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
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
    webhooks: createWebhooksApp(config, log),
  };
  const worker = createWorkerApp(config, log);
  const toolCall = (value: string, name: string) =>
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":${value}}}`;
  const endpoints: Readonly<Record<string, Endpoint>> = {
    "supaswarm-create-task": {
      path: "/supaswarm-create-task",
      app: apps.create,
      bodyOf: (value) => `{"agent":"test-reader","input":{"v":${value}},"run_after":"${tomorrow}"}`,
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
    "supaswarm-webhooks": {
      path: "/supaswarm-webhooks",
      app: apps.webhooks,
      bodyOf: (value) => value,
      headers: { apikey: "sb_secret_wrong" },
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
    const { status, text } = await send(
      { path: "/mcp-execute", app: apps.execute },
      asService,
      JSON.stringify({ server: "swarm", tool_name: "list_agents", parameters: {} }),
    );
    assert.equal(status, 200, text);
  };

  try {
    // Modules that are imported on first use are imported now.
    await bystander();
    for (const { path, app, bodyOf, headers } of Object.values(endpoints)) {
      for (const who of [asUser, asService]) {
        await send({ path, app }, { ...who, ...headers }, bodyOf("{}"));
      }
    }

    for (const [endpointAt, [name, endpoint]] of Object.entries(endpoints).entries()) {
      await t.step(name, async () => {
        for (const [valueAt, [kind, value]] of Object.entries(HOSTILE_VALUES).entries()) {
          const body = new TextEncoder().encode(endpoint.bodyOf(value));
          // Every endpoint gets every value; the two callers send them in turn.
          const who = (endpointAt + valueAt) % 2 === 0 ? asUser : asService;
          const headers = { ...who, ...endpoint.headers };
          await assertDoesNotBlock(
            `${kind} to ${name}`,
            async () => {
              const { status } = await send(endpoint, headers, body);
              assert.ok(status < 500, `${kind} to ${name} is answered with ${status}`);
            },
            bystander,
          );
        }
      });
    }
  } finally {
    await worker.unload?.();
    for (const app of Object.values(apps)) await app.close();
    await swarm.close();
  }
});

Deno.test("no request or argument blocks an agent", async () => {
  const swarm = await Swarm.open();
  // A model with a window for all of them: one with a smaller window would be spared.
  await swarm.sql`
    insert into public.model_windows (provider_id, model_prefix, window_tokens)
    select id, 'script', 1000000 from public.llm_providers where name = 'scripted'`;
  const wide = Object.fromEntries(Array.from({ length: 20_000 }, (_, number) => [`k${number}`, 1]));
  const modelTurns: readonly JsonObject[] = [
    { text: "a".repeat(200_000) },
    wide,
    { to: "a@".repeat(100_000), "\ud800": "x" },
  ];
  const tool: AgentTool = {
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
    isReadOnly: true,
    isIdempotent: true,
    dataFlows: [],
    destination: null,
    toolId: crypto.randomUUID(),
  };
  let turn = 0;
  const worker = swarm.startWorker({
    // No isolate takes over from it.
    isCpuLimited: false,
    tools: [tool],
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
        await swarm.until(taskId, "completed");
      });
    }
  } finally {
    await worker.stop();
    await swarm.close();
  }
});
