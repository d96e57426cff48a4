import assert from "node:assert/strict";
import { waitFor } from "../../scripts/wait_for.ts";
import { createSql } from "../../shared/platform/db/sql_client.ts";
import type { JsonValue } from "../../shared/platform/values/json.ts";
import { addTool } from "../e2e/operator.ts";
import { startHttpServer } from "../gateway/tools/http_fixture.ts";
import {
  bootMcpPlatform,
  grantScopes,
  type McpPlatform,
  type McpUser,
} from "../gateway/mcp/mcp_platform.ts";

/** Calls of one user at the same time, and requests of another beside them. */
const SLOW_CALLS = 40;
const STREAMS = 120;
const REQUESTS = 5;
/** So many of them must wait at the same time before the other user asks. */
const FEW = 4;
const LOCK = 20_260;

/** A function that waits until the test gives the lock back. */
const SLOW_FUNCTION = `
  create function public.wait_for_test() returns text language plpgsql security definer
  set search_path = '' as $$
  begin
    perform pg_advisory_xact_lock_shared(${LOCK});
    return 'done';
  end $$;
  grant execute on function public.wait_for_test to authenticated;
`;

type Call = readonly [server: string, toolName: string, parameters: JsonValue];

const SELECT: Call = ["supabase", "execute_sql", { sql: "select 1 as one" }];

function execute(
  { project }: McpPlatform,
  { headers }: McpUser,
  [server, tool_name, parameters]: Call,
  accept = "application/json",
): Promise<Response> {
  return fetch(`${project.apiUrl}/functions/v1/mcp-execute`, {
    method: "POST",
    headers: { ...headers, accept, "content-type": "application/json" },
    body: JSON.stringify({ server, tool_name, parameters }),
  });
}

/** Sends a request again when a refusal says so, as clients do. */
async function untilAdmitted(send: () => Promise<Response>): Promise<string> {
  while (true) {
    const response = await send();
    const text = await response.text();
    const retryAfterSeconds = Number(response.headers.get("retry-after"));
    if (response.status === 503 && retryAfterSeconds > 0) {
      await new Promise((resolve) => setTimeout(resolve, retryAfterSeconds * 1_000));
      continue;
    }
    assert.equal(response.status, 200, text.slice(0, 300));
    return text;
  }
}

/** A call that ends when the test lets it: an answer, or a refusal that says when to come again. */
async function endOf(sent: Promise<Response>): Promise<"answered" | "refused"> {
  const response = await sent;
  const text = await response.text();
  if (response.status === 503) {
    assert.ok(Number(response.headers.get("retry-after")) > 0, text);
    return "refused";
  }
  assert.equal(response.status, 200, text.slice(0, 300));
  assert.match(text, /done/);
  return "answered";
}

Deno.test("beside calls of one user that wait, another user's calls are answered", async (t) => {
  const held: (() => void)[] = [];
  const api = startHttpServer(async () => {
    await new Promise<void>((resolve) => held.push(resolve));
    return Response.json({ is: "done" });
  });
  // The database must run statements side by side.
  await using platform = await bootMcpPlatform({ db: "native" });
  const { sql, stack } = platform;
  await sql.unsafe(SLOW_FUNCTION);
  await addTool(sql, {
    slug: "slow-api",
    type: "http_api",
    config: {
      method: "GET",
      url: `${api.url}/slow`,
      parameters: { type: "object" },
      timeout_ms: 120_000,
    },
  });
  await addTool(sql, {
    slug: "slow-fn",
    type: "supabase_rpc",
    config: { function: "public.wait_for_test", timeout_ms: 120_000 },
  });
  const [crowd, bystander] = [await platform.addUser("crowd"), await platform.addUser("bystander")];
  await grantScopes(sql, crowd.id, ["mcp:slow-api", "mcp:slow-fn"]);
  await grantScopes(sql, bystander.id, ["sql:read"]);
  const slowApi: Call = ["slow-api", "slow-api", {}];
  const slowFunction: Call = ["slow-fn", "wait_for_test", {}];
  const ask = () => untilAdmitted(() => execute(platform, bystander, SELECT));
  const answerAll = async () => {
    for (let request = 0; request < REQUESTS; request++) assert.match(await ask(), /one/);
  };
  await answerAll();

  await t.step("slow tool calls", async () => {
    const calls = Array.from(
      { length: SLOW_CALLS },
      () => endOf(execute(platform, crowd, slowApi)),
    );
    await waitFor(() => held.length >= FEW, { what: "calls that wait" });

    // None of the calls can end before the bystander's have.
    await answerAll();

    await endHeld(calls);
  });

  await t.step("open streams", async () => {
    const streams = Array.from(
      { length: STREAMS },
      () => endOf(execute(platform, crowd, slowApi, "text/event-stream")),
    );
    await waitFor(() => held.length >= FEW, { what: "streams that wait" });

    await answerAll();

    await endHeld(streams);
  });

  await t.step("slow database functions", async () => {
    const locker = createSql(stack.dbUrl, { maxConnections: 1, applicationName: "locker" });
    await locker`select pg_advisory_lock(${LOCK})`;
    const calls = Array.from(
      { length: SLOW_CALLS },
      () => endOf(execute(platform, crowd, slowFunction)),
    );
    const waiting = async () => {
      const [row] = await sql<{ count: number }[]>`
        select count(*)::int as count from pg_locks where locktype = 'advisory' and objid = ${LOCK} and not granted`;
      return row?.count ?? 0;
    };
    await waitFor(async () => await waiting() > 0, { what: "a function that waits" });

    await answerAll();

    assert.ok(await waiting() <= 2, "one user has at most one connection of an isolate");
    await locker`select pg_advisory_unlock(${LOCK})`;
    await locker.end();
    const ends = await Promise.all(calls);
    assert.ok(ends.includes("answered"));
  });
  await api.stop();

  async function endHeld(calls: readonly Promise<"answered" | "refused">[]): Promise<void> {
    let isOver = false;
    const ending = Promise.all(calls).finally(() => isOver = true);
    while (!isOver) {
      for (const end of held.splice(0)) end();
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    assert.ok((await ending).includes("answered"));
  }
});
