import assert from "node:assert/strict";
import { waitFor } from "../../scripts/wait_for.ts";
import { createCreateTaskApp } from "../../shared/app/create_task_app.ts";
import { createExportApp } from "../../shared/app/export_app.ts";
import { createMcpApp } from "../../shared/app/mcp_app.ts";
import { createMcpExecuteApp } from "../../shared/app/mcp_execute_app.ts";
import { createMcpFeedbackApp } from "../../shared/app/mcp_feedback_app.ts";
import { createMcpOAuthApp } from "../../shared/app/mcp_oauth_app.ts";
import { createQuothSyncApp } from "../../shared/app/quoth_sync_app.ts";
import { WAKE_TOKEN_HEADER } from "../../shared/app/wake_guard.ts";
import { createWebhooksApp } from "../../shared/app/webhooks_app.ts";
import { createWorkerApp } from "../../shared/app/worker_app.ts";
import type { Sql } from "../../shared/platform/db/sql_client.ts";
import type { JsonObject } from "../../shared/platform/values/json.ts";
import { sendRequest } from "../e2e/create_task_endpoint.ts";
import { addAgent } from "../e2e/operator.ts";
import { type FreshFunction, startFreshFunction } from "../gateway/mcp/fresh_function.ts";
import { addHeldTable, holdTable, untilHeld } from "../gateway/mcp/held_table.ts";
import { bootMcpPlatform, grantScopes } from "../gateway/mcp/mcp_platform.ts";
import { rawClient, type RawMessage } from "../gateway/mcp/raw_message.ts";

const CREATE = {
  "mcp": createMcpApp,
  "mcp-execute": createMcpExecuteApp,
  "mcp-feedback": createMcpFeedbackApp,
  "mcp-oauth": createMcpOAuthApp,
  "quoth-sync": createQuothSyncApp,
  "supaswarm-create-task": createCreateTaskApp,
  "supaswarm-export": createExportApp,
  "supaswarm-webhooks": createWebhooksApp,
  "supaswarm-worker": createWorkerApp,
} as const;
type FunctionName = keyof typeof CREATE;

const UNKNOWN_CALL = "00000000-0000-4000-8000-000000000000";
const INITIALIZE: RawMessage = {
  path: "/catalog",
  era: "legacy",
  method: "initialize",
  params: {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "test", version: "1" },
  },
};
const CATALOG_CALL = {
  server: "catalog",
  tool_name: "validate_prompt",
  parameters: { text: "Sum up." },
};
const STATEMENT = {
  server: "supabase",
  tool_name: "execute_sql",
  parameters: { sql: "select 1 as one", dry_run: false },
};

Deno.test("an instance of a function ends its background work by itself", async (t) => {
  await using platform = await bootMcpPlatform({ db: "native" });
  const { sql, stack } = platform;
  await addHeldTable(sql);
  await addAgent(sql, { slug: "idle" });
  const { id, headers: user } = await platform.addUser("ada");
  await grantScopes(sql, id, ["sql:read"]);
  const service = { apikey: stack.secretKey };
  const wake = { [WAKE_TOKEN_HEADER]: await wakeTokenOf(sql) };

  const start = (name: FunctionName) =>
    startFreshFunction(platform, {
      name,
      create: CREATE[name],
      settings: { SUPASWARM_IDLE_SECONDS: "1" },
    });
  const message = (what: RawMessage) =>
    t.step(`mcp: ${what.method} ${what.params?.name ?? ""}`, async () => {
      await using fresh = start("mcp");

      const { status } = await rawClient(fresh.apiUrl, user)(what);

      assert.equal(status, 200);
      await untilSettled(fresh);
    });
  const request = (name: FunctionName, status: number, sent: Sent) =>
    t.step(`${name}: ${sent.method ?? "POST"} ${JSON.stringify(sent.body ?? "")}`, async () => {
      await using fresh = start(name);

      const answer = await sendRequest(fresh, { endpoint: `/functions/v1/${name}`, ...sent });

      assert.equal(answer.status, status, JSON.stringify(answer.body));
      await untilSettled(fresh);
    });

  await message(INITIALIZE);
  await message({ path: "/catalog", method: "tools/list" });
  for (const { server, tool_name: name, parameters } of [CATALOG_CALL, STATEMENT]) {
    const params = { name, arguments: parameters };
    await message({ path: `/${server}`, method: "tools/call", params });
  }
  await request("mcp-execute", 200, { headers: user, method: "GET" });
  await request("mcp-execute", 200, { headers: user, body: CATALOG_CALL });
  await request("mcp-execute", 200, { headers: user, body: STATEMENT });
  await request("supaswarm-create-task", 201, {
    headers: service,
    body: { agent: "idle", input: "x" },
  });
  await request("mcp-feedback", 404, {
    headers: user,
    body: { feedback_token: UNKNOWN_CALL, rating: "up" },
  });
  await request("mcp-oauth", 404, { headers: user, body: { server: "missing" } });
  await request("supaswarm-export", 202, { headers: wake, body: {} });
  await request("supaswarm-webhooks", 202, { headers: wake, body: {} });
  await request("quoth-sync", 202, { headers: wake, body: {} });
  await request("supaswarm-worker", 202, { headers: wake, body: {} });

  await t.step("mcp-execute: a stream whose client disconnects", async () => {
    await using fresh = start("mcp-execute");
    await using _hold = await holdTable(sql);
    const client = new AbortController();
    const parameters = { sql: "select state from public.held", dry_run: false };
    const response = await fetch(`${fresh.apiUrl}/functions/v1/mcp-execute`, {
      method: "POST",
      headers: { ...user, "content-type": "application/json", accept: "text/event-stream" },
      body: JSON.stringify({ ...STATEMENT, parameters }),
      signal: client.signal,
    });
    await untilHeld(sql);

    client.abort();

    await assert.rejects(response.text());
    await untilSettled(fresh);
  });

  await t.step("mcp-execute: an unused instance closes its connections", async () => {
    await using fresh = start("mcp-execute");
    await sendRequest(fresh, {
      endpoint: "/functions/v1/mcp-execute",
      headers: user,
      body: STATEMENT,
    });
    assert.ok(await connectionCount(sql) > 0);

    await waitFor(async () => await connectionCount(sql) === 0, {
      what: "the connections to close",
    });
  });
});

interface Sent {
  readonly headers: Readonly<Record<string, string>>;
  readonly method?: string;
  readonly body?: JsonObject;
}

async function untilSettled(fresh: FreshFunction): Promise<void> {
  await waitFor(() => fresh.pendingCount() === 0, {
    what: "the end of the background work",
  });
}

async function wakeTokenOf(sql: Sql): Promise<string> {
  const [row] = await sql<{ token: string }[]>`
    select decrypted_secret as token from vault.decrypted_secrets
    where name = 'supaswarm_wake_token'`;
  return row?.token ?? "";
}

async function connectionCount(sql: Sql): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from pg_stat_activity
    where application_name in ('mcp-execute', 'supaswarm caller')`;
  return row?.count ?? 0;
}
