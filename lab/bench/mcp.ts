import { signUp } from "../../scripts/demo/user_client.ts";
import { type BenchResult, judge, percentile } from "./bench_result.ts";
import { type McpEndpoint, toEndpoint } from "./mcp_endpoint.ts";
import { type MeasuredStack, startMeasuredStack } from "./measured_stack.ts";
import { startReportingProcess } from "./reporting_process.ts";
import { mediansOf, ratioIn, type Rounds, runRounds, spreadIn } from "./rounds.ts";
import { serverVersion } from "./server_version.ts";

const ROUNDS = 5;
const SERIAL_CALLS = 40;
const CALLERS = 50;
const CALLS_PER_CALLER = 6;
const WARM_UP_CALLS = 100;
/** Typical time of an external tool that calls a database or an API. */
const WORK_MS = 100;
const LIMIT_PER_MINUTE = 1_000_000;
const SLUG = "timed";

/**
 * MCP: the same `tools/call` directly to a server and through `/functions/v1/mcp/<server>`, which
 * authenticates, checks scope, limit and arguments, calls, redacts and writes the ledger.
 *
 * @param db `native`, a URL, or `pglite`.
 */
export async function benchMcp(db: string): Promise<BenchResult> {
  await using server = startReportingProcess<{ url: string }>("mcp_tool_server.ts");
  await using measured = await startMeasuredStack(db);
  const { url } = await server.ask();
  const registered = await register(measured, url);
  const { jwks, credentials } = registered;
  await using mcp = startFunction(measured, jwks);
  const endpoints = {
    direct: toEndpoint(url, {}),
    proxied: toEndpoint(`${(await mcp.ask()).url}/${SLUG}`, credentials),
    stack: toEndpoint(`${measured.stack.apiUrl}/functions/v1/mcp/${SLUG}`, credentials),
  };
  for (const endpoint of Object.values(endpoints)) {
    for (let call = 0; call < WARM_UP_CALLS; call++) await endpoint.call(0);
  }

  const working = await runRounds(
    ofEach(endpoints, (endpoint) => measureSerial(endpoint, WORK_MS)),
    {
      bench: "mcp",
      count: ROUNDS,
    },
  );
  const idle = await runRounds(ofEach(endpoints, (endpoint) => measureSerial(endpoint, 0)), {
    bench: "mcp, a tool that answers at once",
    count: ROUNDS,
  });
  const crowds = await runRounds(
    ofEach(endpoints, (endpoint) => measureCrowd(endpoint, async () => (await mcp.ask()).cpu_ms)),
    { bench: `mcp, ${CALLERS} callers`, count: ROUNDS },
  );
  const cold = await runRounds({ function: () => measureColdStart(measured, registered) }, {
    bench: "mcp, cold",
    count: ROUNDS,
  });

  const spreads = {
    ...latenciesOf(working, ""),
    p50_to_direct: ratioIn(working, "p50_ms", "proxied", "direct"),
    p95_to_direct: ratioIn(working, "p95_ms", "proxied", "direct"),
    stack_p50_to_direct: ratioIn(working, "p50_ms", "stack", "direct"),
    ...latenciesOf(idle, "_idle"),
    calls_per_second: spreadIn(crowds, "proxied", "calls_per_second"),
    direct_calls_per_second: spreadIn(crowds, "direct", "calls_per_second"),
    stack_calls_per_second: spreadIn(crowds, "stack", "calls_per_second"),
    calls_to_direct: ratioIn(crowds, "calls_per_second", "proxied", "direct"),
    cpu_ms_a_call: spreadIn(crowds, "proxied", "cpu_ms_a_call"),
    cold_start_ms: spreadIn(cold, "function", "cold_start_ms"),
  };
  return judge("mcp", { work_ms: WORK_MS, callers: CALLERS, ...mediansOf(spreads) }, {
    p50_to_direct: { max: 1.15 },
    p95_to_direct: { max: 1.3 },
    stack_p50_to_direct: { max: 1.3 },
    calls_to_direct: { min: 0.1 },
    cpu_ms_a_call: { max: 3 },
  }, {
    spreads,
    versions: await serverVersion(measured.sql),
    notes: [
      "`proxied_`: only the function, in a Deno process, as in an isolate of a hosted project. " +
      "`stack_`: through the embedded stack, whose gateway hands each request to another process.",
      `One caller, a signed-in user, and a tool that takes ${WORK_MS} ms; \`idle_\`: a tool that ` +
      "answers immediately, so that the difference is only the proxy.",
      `\`calls_per_second\`: ${CALLERS} concurrent callers of a tool that answers immediately; ` +
      "`cpu_ms_a_call`: the function's processor time for each of these calls.",
      "`cold_start_ms`: from the start of the function's process to its first answer of a call.",
    ],
  });
}

interface Registered {
  /** The keys that verify a user's token. */
  readonly jwks: string;
  readonly credentials: Readonly<Record<string, string>>;
}

/** Registers the server, and signs up a user who may call it. */
async function register({ sql, stack }: MeasuredStack, url: string): Promise<Registered> {
  await sql`
    insert into public.tools (name, slug, type, config)
    values ('Timed', ${SLUG}, 'mcp_server', ${sql.json({ mcp_url: url })})`;
  await sql`
    insert into public.mcp_policies (mcp_name, calls_per_minute, burst_calls)
    values (${SLUG}, ${LIMIT_PER_MINUTE}, ${LIMIT_PER_MINUTE})`;
  const { client, accessToken } = await signUp(stack, "ada");
  const { data } = await client.auth.getUser();
  await sql`
    insert into public.mcp_grants (user_id, scopes)
    values (${data.user?.id ?? ""}::uuid, ${`{mcp:${SLUG}}`}::text[])`;
  const keys = await fetch(`${stack.apiUrl}/auth/v1/.well-known/jwks.json`);
  return {
    jwks: await keys.text(),
    credentials: { apikey: stack.publishableKey, authorization: `Bearer ${accessToken}` },
  };
}

/** Starts the function with the variables that the platform sets. */
function startFunction({ stack }: MeasuredStack, jwks: string) {
  return startReportingProcess<{ url: string; cpu_ms: number }>("mcp_function.ts", {
    SUPABASE_URL: stack.apiUrl,
    SUPABASE_DB_URL: stack.dbUrl,
    SUPABASE_SECRET_KEYS: JSON.stringify({ default: stack.secretKey }),
    SUPABASE_JWKS: jwks,
    SUPASWARM_ALLOW_LOOPBACK: "true",
  });
}

function ofEach<Name extends string, T>(
  endpoints: Readonly<Record<Name, McpEndpoint>>,
  measure: (endpoint: McpEndpoint) => Promise<T>,
): Record<string, () => Promise<T>> {
  return Object.fromEntries(
    Object.entries<McpEndpoint>(endpoints).map((
      [name, endpoint],
    ) => [name, () => measure(endpoint)]),
  );
}

async function measureSerial(endpoint: McpEndpoint, workMs: number) {
  const latenciesMs: number[] = [];
  for (let call = 0; call < SERIAL_CALLS; call++) {
    latenciesMs.push(await timeOf(() => endpoint.call(workMs)));
  }
  return { p50_ms: percentile(latenciesMs, 0.5), p95_ms: percentile(latenciesMs, 0.95) };
}

async function measureCrowd(endpoint: McpEndpoint, functionCpuMs: () => Promise<number>) {
  const calls = CALLERS * CALLS_PER_CALLER;
  const before = await functionCpuMs();
  const tookMs = await timeOf(() =>
    Promise.all(Array.from({ length: CALLERS }, async () => {
      for (let call = 0; call < CALLS_PER_CALLER; call++) await endpoint.call(0);
    }))
  );
  return {
    calls_per_second: calls / tookMs * 1_000,
    cpu_ms_a_call: (await functionCpuMs() - before) / calls,
  };
}

async function measureColdStart(measured: MeasuredStack, { jwks, credentials }: Registered) {
  const beganAtMs = performance.now();
  await using cold = startFunction(measured, jwks);
  await toEndpoint(`${(await cold.ask()).url}/${SLUG}`, credentials).call(0);
  return { cold_start_ms: performance.now() - beganAtMs };
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const beganAtMs = performance.now();
  await work();
  return performance.now() - beganAtMs;
}

function latenciesOf(rounds: Rounds, suffix: string) {
  return Object.fromEntries(
    ["direct", "proxied", "stack"].flatMap((endpoint) =>
      ["p50_ms", "p95_ms"].map((
        name,
      ) => [`${endpoint}${suffix}_${name}`, spreadIn(rounds, endpoint, name)])
    ),
  );
}
