import assert from "node:assert/strict";
import { createModelCaller } from "../../shared/models/llm/call_model.ts";
import { createModelAdapter } from "../../shared/models/llm/create_model_adapter.ts";
import type { ModelApi } from "../../shared/models/llm/model_port.ts";
import { createGuardedFetch } from "../../shared/platform/net/guarded_fetch.ts";
import { INTERNAL_SERVERS } from "../../shared/app/internal_servers.ts";
import { createToolGateway } from "../../shared/gateway/tools/gateway.ts";
import type { ToolGateway } from "../../shared/gateway/tool_contracts/tool_gateway.ts";
import { callOf, noAbort, nobody } from "../gateway/tools/tool_fixture.ts";
import { created, sendRequest } from "../e2e/create_task_endpoint.ts";
import { addAgent, addTool } from "../e2e/operator.ts";
import { bootPlatform, type Platform } from "../e2e/platform.ts";
import { untilTask } from "../e2e/task_view.ts";
import { startHttpServer } from "../gateway/tools/http_fixture.ts";
import { FORBIDDEN_HOSTS, PRIVATE_HOSTS, PUBLIC_ADDRESS, resolveHost } from "./inner_hosts.ts";

const REFUSED = "TOOL_ADDRESS_FORBIDDEN";
const INNER_HOSTS = [...PRIVATE_HOSTS, ...FORBIDDEN_HOSTS];

Deno.test("no registered address reaches an internal host", async (t) => {
  await using platform = await bootPlatform({ env: { SUPASWARM_ALLOW_LOOPBACK: "false" } });
  using trap = openTrap();
  const strict = gatewayOf(platform, false);
  const local = gatewayOf(platform, true);

  await t.step("http_api", async () => {
    for (const host of INNER_HOSTS) {
      const url = `https://${host}:${trap.port}/`;
      assert.equal(await callHttpApi(platform, strict, url), REFUSED, url);
    }
  });

  await t.step("mcp_url", async () => {
    for (const host of INNER_HOSTS) {
      const url = `https://${host}:${trap.port}/mcp`;
      assert.equal(await listMcpServer(platform, strict, url), REFUSED, url);
    }
  });

  for (const api of ["openai", "anthropic", "google"] as const) {
    await t.step(`base_url of a provider with the API ${api}`, async () => {
      for (const host of INNER_HOSTS) {
        const url = `https://${host}:${trap.port}/v1`;
        assert.equal(await callModel(api, url), REFUSED, url);
      }
    });
  }

  await t.step("a task whose provider is on loopback fails before anything is sent", async () => {
    await addAgent(platform.sql, { slug: "inside" });
    const task = created(
      await sendRequest(platform.project, {
        body: { agent: "inside", input: "?" },
        headers: { apikey: platform.stack.secretKey },
      }),
    );
    const { error } = await untilTask(platform.sql, task.task_id, "failed");
    assert.equal(error?.code, REFUSED);
    assert.deepEqual(platform.stack.models.journal.entries(), []);
  });

  await t.step("permission for loopback excludes link-local and metadata addresses", async () => {
    for (const host of FORBIDDEN_HOSTS) {
      for (const url of [`http://${host}/`, `https://${host}/`]) {
        assert.equal(await callHttpApi(platform, local, url), REFUSED, url);
      }
    }
  });

  await t.step("a redirect from an allowed server does not reach them either", async () => {
    let location = "";
    const server = startHttpServer(() =>
      new Response(null, { status: 302, headers: { location } })
    );
    try {
      for (const host of FORBIDDEN_HOSTS) {
        location = `http://${host}/latest/meta-data/`;
        assert.equal(await callHttpApi(platform, local, server.url), REFUSED, location);
        // An MCP server's redirects are never followed.
        const listed = await listMcpServer(platform, local, `${server.url}/mcp`);
        assert.equal(listed, REFUSED, location);
      }
    } finally {
      await server.stop();
    }
  });

  await t.step("no packet was sent", () => assert.equal(trap.connections(), 0));
});

Deno.test("a redirect from the internet to an internal host is refused at its first hop", async () => {
  const writtenInHeaders = INNER_HOSTS.filter((host) => /^[ -~]+$/.test(host));
  for (const host of writtenInHeaders) {
    const sent: string[] = [];
    const guarded = createGuardedFetch({
      allowLoopback: false,
      resolveHost,
      fetch: (input) => {
        sent.push(String(input));
        const headers = { location: `https://${host}/` };
        return Promise.resolve(new Response(null, { status: 307, headers }));
      },
    });

    await assert.rejects(guarded("https://outside.example/"), { code: REFUSED }, host);
    assert.deepEqual(sent, ["https://outside.example/"]);
  }
});

Deno.test("a name that resolves to an internal address between two hops is refused at the second", async () => {
  const answers = [[PUBLIC_ADDRESS], ["127.0.0.1"]];
  let sent = 0;
  const guarded = createGuardedFetch({
    allowLoopback: false,
    resolveHost: () => Promise.resolve(answers.shift() ?? []),
    fetch: () => {
      sent++;
      return Promise.resolve(new Response(null, { status: 302, headers: { location: "/again" } }));
    },
  });

  await assert.rejects(guarded("https://rebinding.example/"), { code: REFUSED });
  assert.equal(sent, 1);
});

Deno.test("a name that changes after the check reaches a server that cannot prove the name", async () => {
  const inner = startHttpServer(() => new Response("the instance's credentials"));
  const guarded = createGuardedFetch({
    allowLoopback: false,
    resolveHost: () => Promise.resolve([PUBLIC_ADDRESS]),
    // The address that the connection now gets for the name.
    fetch: (input, init) => {
      const moved = new URL(String(input));
      moved.host = new URL(inner.url).host;
      return fetch(moved, init);
    },
  });
  try {
    await assert.rejects(guarded("http://rebinding.example/"), { code: REFUSED });
    await assert.rejects(guarded("https://rebinding.example/"), TypeError);
    assert.deepEqual(inner.seen, []);
  } finally {
    await inner.stop();
  }
});

/** A port on loopback that counts connections. */
function openTrap() {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  let count = 0;
  const accepting = (async () => {
    for await (const connection of listener) {
      count++;
      connection.close();
    }
  })();
  return {
    port: listener.addr.port,
    connections: () => count,
    [Symbol.dispose]: () => {
      listener.close();
      accepting.catch(() => {});
    },
  };
}

function gatewayOf({ sql, stack }: Platform, allowLoopback: boolean): ToolGateway {
  return createToolGateway({
    sql,
    internalServers: INTERNAL_SERVERS,
    supabaseUrl: stack.apiUrl,
    secretKey: stack.secretKey,
    allowLoopback,
    log: () => {},
    resolveHost,
  });
}

/** Registers a tool for a new agent. */
async function callerFor({ sql }: Platform, type: "http_api" | "mcp_server", config: ToolConfig) {
  const slug = `t-${crypto.randomUUID()}`;
  const toolId = await addTool(sql, { slug, type, config });
  await addAgent(sql, { slug, tools: [{ id: toolId }] });
  const [agent] = await sql<{ id: string }[]>`select id from public.agents where slug = ${slug}`;
  return { ...nobody(), agentId: agent?.id ?? null };
}

type ToolConfig = Readonly<Record<string, string | { readonly type: "object" }>>;

/** The error code of a call to an HTTP API. */
async function callHttpApi(platform: Platform, gateway: ToolGateway, url: string) {
  const config = { method: "GET", url, parameters: { type: "object" } } as const;
  const caller = await callerFor(platform, "http_api", config);
  const { tools: [tool], unavailable } = await gateway.listAgentTools(caller, noAbort());
  if (tool === undefined) return unavailable[0]?.code;
  const outcome = await gateway.call(callOf(tool, caller, {}), noAbort());
  return outcome.kind === "answered" ? outcome.errorCode : outcome.kind;
}

/** The error code of listing an MCP server's tools. */
async function listMcpServer(platform: Platform, gateway: ToolGateway, url: string) {
  const caller = await callerFor(platform, "mcp_server", { mcp_url: url });
  const { unavailable } = await gateway.listAgentTools(caller, noAbort());
  return unavailable[0]?.code;
}

/** The error code of a model call made like the worker's. */
async function callModel(api: ModelApi, baseUrl: string): Promise<string> {
  const guarded = createGuardedFetch({ allowLoopback: false, resolveHost });
  const call = createModelCaller({
    resolveKey: () => Promise.resolve({ secret: "key", keySource: "organisation" as const }),
    createAdapter: (endpoint) => createModelAdapter(endpoint, { fetch: guarded }),
  });
  try {
    await call({
      provider: { id: "id", name: "inside", api, base_url: baseUrl, default_model: "m" },
      settings: { model: null, temperature: null, max_tokens: null },
      userId: null,
      prompt: { system: "", messages: [{ role: "user", text: "?" }], tools: [] },
      signal: noAbort(),
      onDelta: () => {},
    });
    return "answered";
  } catch (error) {
    return (error as { readonly code?: string }).code ?? String(error);
  }
}
