import assert from "node:assert/strict";
import { join } from "node:path";
import { syncMcps } from "../../../scripts/mcps/sync_mcps.ts";
import { runScript } from "../../run_script.ts";
import { asJsonObject, type JsonObject } from "../../../shared/platform/values/json.ts";
import { jsonObject } from "../../../shared/platform/values/json_schema.ts";
import { sendRequest } from "../../e2e/create_task_endpoint.ts";
import { type SeenRequest, startMcpServer } from "../tools/mcp_fixture.ts";
import { errorOf } from "./raw_message.ts";
import { connectSdkClient } from "./sdk_client.ts";
import { sharedPlatform } from "./shared_platform.ts";

const TOKEN = "tok_c4n4ry_wrapped_0123456789";
const ENDPOINT = "/functions/v1/mcp-execute";

/** A misbehavior: the answer of `tools/call`, and the result for callers. */
interface Misbehaviour {
  readonly slug: string;
  readonly answer: () => Response | Promise<Response>;
  readonly code: string;
  /** The status of the plain endpoint. */
  readonly status: number;
  /** The text that callers read. */
  readonly message: RegExp;
  /** The error of the server, or of the connection to it. */
  readonly original: RegExp;
}

/** The limit of the slow server, within which it lists its tools. */
const SLOW_MS = 2_000;
/** The answer of the slow server, long after its callers gave up. */
const late = Promise.withResolvers<Response>();

const MISBEHAVIOURS: readonly Misbehaviour[] = [
  {
    slug: "wrapped-slow",
    answer: () => late.promise,
    code: "TOOL_TIMEOUT",
    status: 504,
    message: /'wrapped-slow' did not respond within 2000 ms/,
    original: /'wrapped-slow' did not respond within 2000 ms/,
  },
  {
    slug: "wrapped-broken",
    answer: () => new Response("<h1>Out of ink</h1>", { status: 500 }),
    code: "TOOL_UNAVAILABLE",
    status: 502,
    message: /'wrapped-broken' answered with an error \(HTTP 500\)/,
    original: /Out of ink/,
  },
  {
    slug: "wrapped-page",
    answer: () => new Response("<h1>Welcome</h1>", { headers: { "content-type": "text/html" } }),
    code: "TOOL_UNAVAILABLE",
    status: 502,
    message: /'wrapped-page' returned an unreadable response \(not the Model Context Protocol/,
    original: /text\/html/,
  },
  {
    slug: "wrapped-garbage",
    answer: () => new Response("{", { headers: { "content-type": "application/json" } }),
    code: "TOOL_UNAVAILABLE",
    status: 502,
    message: /'wrapped-garbage' returned an unreadable response/,
    original: /JSON/,
  },
  {
    slug: "wrapped-huge",
    answer: () =>
      new Response(`{"x":"${"x".repeat(6 * 1024 * 1024)}"}`, {
        headers: { "content-type": "application/json" },
      }),
    code: "OUTPUT_TOO_LARGE",
    status: 200,
    message: /larger than/i,
    original: /larger than/i,
  },
  {
    slug: "wrapped-refusing",
    answer: () => new Response(`no such token: ${TOKEN}`, { status: 401 }),
    code: "TOOL_AUTH_FAILED",
    status: 502,
    message:
      /'wrapped-refusing' rejected the secret 'supaswarm\/mcp\/wrapped-refusing\/token' \(HTTP 401\)/,
    original: /refusing/,
  },
  {
    slug: "wrapped-busy",
    answer: () => new Response("later", { status: 429, headers: { "retry-after": "60" } }),
    code: "TOOL_RATE_LIMITED",
    status: 429,
    message: /'wrapped-busy'/,
    original: /'wrapped-busy'/,
  },
];

Deno.test("a server of external-mcps.yaml is wrapped", async (t) => {
  await using server = disposable(
    await startMcpServer({
      intercept: ({ method, url }: SeenRequest) =>
        method === "tools/call"
          ? MISBEHAVIOURS.find(({ slug }) => slug === url.searchParams.get("case"))?.answer()
          : undefined,
    }),
  );
  // The server waits for its answers before it stops.
  using _answers = { [Symbol.dispose]: () => late.resolve(new Response()) };
  await using platform = await sharedPlatform();
  const { project, stack, service, mcpUrl } = platform;
  const headers = { apikey: stack.secretKey };
  const folder = await Deno.makeTempDir();
  const file = join(folder, "external-mcps.yaml");
  const run = (...args: string[]) => runSync(["--file", file, "--db", stack.dbUrl, ...args]);
  const call = async (slug: string, tool: string, args: JsonObject) => {
    const body = { server: slug, tool_name: tool, parameters: args };
    const overHttp = await sendRequest(project, { endpoint: ENDPOINT, body, headers });
    const params = { name: tool, arguments: args };
    const { last } = await service({ path: `/${slug}`, method: "tools/call", params });
    return {
      status: overHttp.status,
      http: jsonObject.parse(overHttp.body),
      mcp: last.result ?? {},
    };
  };

  await t.step("the command shows its plan, applies it, and then finds nothing to do", async () => {
    await Deno.writeTextFile(file, fileOf(server.url));
    const dry = await run("--dry-run", "--json");
    const text = await run();
    const again = await run("--json");

    assert.deepEqual([dry.code, text.code, again.code], [0, 0, 0], dry.stderr + text.stderr);
    const { dry_run, is_changed } = JSON.parse(dry.stdout);
    assert.deepEqual([dry_run, is_changed], [true, true]);
    assert.match(text.stdout, /added +wrapped\n/);
    assert.match(text.stdout, /stored +supaswarm\/mcp\/wrapped\/token \(NOTES_TOKEN\)/);
    assert.equal(JSON.parse(again.stdout).is_changed, false);
    assert.ok(!(dry.stdout + text.stdout + again.stdout).includes(TOKEN));
  });

  await t.step("the command names the problem with its line, and fails", async () => {
    const bad = join(folder, "bad.yaml");
    await Deno.writeTextFile(bad, "mcps:\n  notes:\n    name: Notes\n    uri: https://x.example\n");
    const { code, stderr, stdout } = await runSync(["--file", bad, "--db", stack.dbUrl]);

    assert.deepEqual([code, stdout], [1, ""]);
    assert.match(stderr, /bad\.yaml:4: mcps\.notes\.uri: unknown key; did you mean url\?/);
  });

  for (const era of ["auto", "legacy"] as const) {
    await t.step(`discovery by a ${era} client names the server and the gateway`, async () => {
      const meta: JsonObject[] = [];
      const url = `${mcpUrl}/wrapped`;
      await using connected = await connectSdkClient({ url, headers, era });
      assert.equal(connected.client.getServerVersion()?.name, "Our notes (Enhanced)");

      const method = era === "auto" ? "server/discover" : "initialize";
      const params = era === "auto" ? {} : {
        protocolVersion: "2025-11-25",
        capabilities: {},
        clientInfo: { name: "raw", version: "1" },
      };
      const raw = { path: "/wrapped", method, params };
      const { last } = await service(era === "auto" ? raw : { ...raw, era: "legacy" });
      meta.push(asJsonObject(last.result?._meta));
      assert.deepEqual(meta[0]?.orchestrator_enhancements, [
        "retry_logic",
        "response_formatting",
        "error_translation",
      ]);
      assert.equal(meta[0]?.external_endpoint, new URL(server.url).origin);
      assert.equal(meta[0]?.docs_url, "https://example.com/notes");
      assert.deepEqual(meta[0]?.external_capabilities, ["note_taking"]);
    });
  }

  await t.step("the plain endpoint reports the same, for the external server only", async () => {
    const { body } = await sendRequest(project, { endpoint: ENDPOINT, method: "GET", headers });
    const servers = jsonObject.parse(body).servers as JsonObject[];
    const bySlug = new Map(servers.map((entry) => [entry.slug, entry]));

    const notes = bySlug.get("wrapped");
    assert.equal(notes?.name, "Our notes (Enhanced)");
    assert.equal(asJsonObject(notes?._meta).external_endpoint, new URL(server.url).origin);
    assert.ok(!JSON.stringify(notes).includes("/mcp"));
    assert.equal(bySlug.get("swarm")?._meta, undefined);
  });

  await t.step("a result reports that it was enhanced, and how long it took", async () => {
    const { status, http, mcp } = await call("wrapped", "search", { searchValue: "x" });

    assert.equal(status, 200);
    for (const meta of [asJsonObject(http._meta), asJsonObject(mcp._meta)]) {
      assert.equal(meta.enhanced_by, "orchestrator");
      assert.ok(Number(meta.response_time) >= 0);
      assert.equal(meta.external_error, undefined);
    }
  });

  await t.step("a tool's own error is reported in its words, without secrets", async () => {
    const { http, mcp } = await call("wrapped", "fail", { with: TOKEN });

    for (const meta of [asJsonObject(http._meta), asJsonObject(mcp._meta)]) {
      assert.equal(meta.external_error, true);
      assert.equal(meta.original_error, "Use another value than [redacted]");
    }
  });

  await t.step("a refusal by the gateway does not count as an error of the server", async () => {
    const { http, mcp } = await call("wrapped", "search", { wrong: 1 });

    for (const meta of [asJsonObject(http._meta), asJsonObject(mcp._meta)]) {
      assert.equal(meta.external_error, undefined);
      assert.equal(meta.error_code, "TOOL_ARGUMENTS_INVALID");
    }
  });

  for (const { slug, code, status, message, original } of MISBEHAVIOURS) {
    await t.step(`a call to the server ${slug}: ${code}`, async () => {
      const answer = await call(slug, "search", { searchValue: "x" });

      assert.equal(answer.status, status, JSON.stringify(answer.http));
      const overHttp = status === 200
        ? { ...asJsonObject(asJsonObject(answer.http.structuredContent).error) }
        : asJsonObject(answer.http.error);
      const overMcp = errorOf(answer.mcp);
      for (const error of [overHttp, overMcp]) {
        assert.equal(error.code, code);
        assert.match(String(error.message), message);
      }
      const reportedOverHttp = status === 200 ? answer.http._meta : overHttp.details;
      const reportedOverMcp = code === "TOOL_RATE_LIMITED" ? overMcp.details : answer.mcp._meta;
      for (const reported of [asJsonObject(reportedOverHttp), asJsonObject(reportedOverMcp)]) {
        assert.equal(reported.external_error, true);
        assert.match(String(reported.original_error), original);
        assert.ok(String(reported.original_error).length <= 1_000);
      }
      assert.ok(!JSON.stringify(answer).includes(TOKEN));
    });
  }

  await t.step("a dead server is TOOL_UNAVAILABLE, and discovery still lists it", async () => {
    const { status, http, mcp } = await call("wrapped-dead", "search", { searchValue: "x" });
    const { last } = await service({ path: "/wrapped-dead", method: "server/discover" });

    const error = asJsonObject(http.error);
    assert.deepEqual([status, error.code], [502, "TOOL_UNAVAILABLE"]);
    assert.match(String(error.message), /dead/);
    assert.equal(asJsonObject(mcp._meta).external_error, true);
    const discovered = asJsonObject(last.result?._meta);
    const info = asJsonObject(discovered["io.modelcontextprotocol/serverInfo"]);
    assert.equal(info.name, "A dead server (Enhanced)");
    assert.equal(discovered.external_endpoint, "http://127.0.0.1:9");
  });

  await t.step("no log or stored row contains the credential", async () => {
    const rows = await platform.sql`
      select to_jsonb(execution) from public.mcp_executions execution
      union all select to_jsonb(failure) from public.mcp_failures failure
      union all select to_jsonb(tool) from public.tools tool
      union all select to_jsonb(connection) from public.agent_mcp_connections connection`;

    assert.ok(rows.length > 10);
    assert.ok(!(JSON.stringify(rows) + platform.logLines.join("\n")).includes(TOKEN));
  });

  // Other tests on this platform list all servers.
  await syncMcps(platform.sql, { fileName: file, entries: [], environment: {}, isDryRun: false });
  await Deno.remove(folder, { recursive: true });
});

/** A working server, one for each misbehavior, and one that does not exist. */
function fileOf(url: string): string {
  const entry = (slug: string, name: string, address: string, ...more: string[]) =>
    [
      `  ${slug}:`,
      `    name: ${name}`,
      `    url: ${address}`,
      `    timeout_ms: ${slug === "wrapped-slow" ? SLOW_MS : 10_000}`,
      "    credentials: {token_env: NOTES_TOKEN}",
      ...more.map((line) => `    ${line}`),
    ].join("\n");
  return [
    "mcps:",
    entry(
      "wrapped",
      "Our notes",
      url,
      "docs_url: https://example.com/notes",
      "capabilities: [note_taking]",
    ),
    ...MISBEHAVIOURS.map(({ slug }) => entry(slug, slug, url, `query: {case: ${slug}}`)),
    entry("wrapped-dead", "A dead server", "http://127.0.0.1:9/"),
    "",
  ].join("\n");
}

function runSync(args: readonly string[]) {
  return runScript("scripts/mcps_sync.ts", args, { NOTES_TOKEN: TOKEN });
}

function disposable<T extends { stop(): Promise<void> }>(resource: T): T & AsyncDisposable {
  return Object.assign(resource, { [Symbol.asyncDispose]: () => resource.stop() });
}
