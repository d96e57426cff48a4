import { signUp } from "../../scripts/demo/user_client.ts";
import { type BenchResult, judge, percentile } from "./bench_result.ts";
import { type McpEndpoint, sendTo, toEndpoint } from "./mcp_endpoint.ts";
import { McpIsolates } from "./mcp_isolates.ts";
import { type MeasuredStack, startMeasuredStack } from "./measured_stack.ts";
import { startReportingProcess } from "./reporting_process.ts";
import { mediansOf, ratioIn, type Rounds, runRounds, spreadIn } from "./rounds.ts";
import { serverVersion } from "./server_version.ts";
import { startStatementCounter } from "./statement_counter.ts";

const ROUNDS = 5;
const SERIAL_CALLS = 40;
const CALLERS = 50;
const FEW_CALLERS = 10;
/** Several isolates use up their CPU time in a round. */
const CROWD_CALLS = 600;
const WARM_UP_CALLS = 100;
/** An isolate has CPU time for them, and for its first request. */
const ISOLATE_WARM_UP = 10;
const ISOLATE_CALLS = 20;
/** The function writes its records after the answer. */
const SETTLE_MS = 300;
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
  const { cpu, isCpuEnforced } = measured.stack.functionLimits;
  if (cpu === null || !isCpuEnforced) {
    throw new Error(
      "Cannot run the function within CPU limits: they are off, or not measured here",
    );
  }
  const { url } = await server.ask();
  const registered = await register(measured, url);
  const { credentials } = registered;
  const openIsolates = (databaseUrl = measured.stack.dbUrl) =>
    new McpIsolates(environment(measured, registered, databaseUrl), cpu);
  await using isolates = openIsolates();
  const endpoints = {
    direct: toEndpoint(sendTo(url), {}),
    proxied: throughFunction(isolates, registered),
    stack: toEndpoint(sendTo(`${measured.stack.apiUrl}/functions/v1/mcp/${SLUG}`), credentials),
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
  const crowdOf = (callers: number) =>
    runRounds(ofEach(endpoints, (endpoint) => measureCrowd(endpoint, callers, isolates)), {
      bench: `mcp, ${callers} callers`,
      count: ROUNDS,
    });
  const few = await crowdOf(FEW_CALLERS);
  const crowds = await crowdOf(CALLERS);
  const single = await runRounds({
    function: () => measureColdStart(openIsolates(), registered),
    calls: () => measureIsolate(openIsolates, registered, measured, (endpoint) => endpoint.call(0)),
    lists: () => measureIsolate(openIsolates, registered, measured, (endpoint) => endpoint.list()),
  }, { bench: "mcp, one isolate", count: ROUNDS });

  const spreads = {
    ...latenciesOf(working, ""),
    p50_to_direct: ratioIn(working, "p50_ms", "proxied", "direct"),
    p95_to_direct: ratioIn(working, "p95_ms", "proxied", "direct"),
    stack_p50_to_direct: ratioIn(working, "p50_ms", "stack", "direct"),
    ...latenciesOf(idle, "_idle"),
    ...crowdFigures(few, "ten_"),
    ...crowdFigures(crowds, ""),
    cpu_ms_a_call: spreadIn(crowds, "proxied", "cpu_ms_a_call"),
    cold_start_ms: spreadIn(single, "function", "cold_start_ms"),
    first_call_cpu_ms: spreadIn(single, "calls", "first_cpu_ms"),
    warm_call_cpu_ms: spreadIn(single, "calls", "cpu_ms"),
    warm_list_cpu_ms: spreadIn(single, "lists", "cpu_ms"),
    first_call_statements: spreadIn(single, "calls", "first_statements"),
    call_statements: spreadIn(single, "calls", "statements"),
    list_statements: spreadIn(single, "lists", "statements"),
  };
  return judge("mcp", { work_ms: WORK_MS, callers: CALLERS, ...mediansOf(spreads) }, {
    p50_to_direct: { max: 1.15 },
    p95_to_direct: { max: 1.3 },
    stack_p50_to_direct: { max: 1.3 },
    calls_to_direct: { min: 0.1 },
    cpu_ms_a_call: { max: 3 },
    warm_call_cpu_ms: { max: 5 },
    warm_list_cpu_ms: { max: 3 },
    call_statements: { max: 2 },
    list_statements: { max: 2 },
  }, {
    spreads,
    versions: await serverVersion(measured.sql),
    notes: NOTES,
  });
}

const NOTES = [
  "`proxied_`: only the function, in processes that are replaced as isolates of a hosted project " +
  "are: with new requests up to the soft CPU limit. `stack_`: through the embedded stack, whose " +
  "gateway hands each request to another process.",
  `One caller, a signed-in user, and a tool that takes ${WORK_MS} ms; \`idle_\`: a tool that ` +
  "answers immediately, so that the difference is only the proxy.",
  `\`calls_per_second\`: ${CALLERS} concurrent callers of a tool that answers immediately; ` +
  `\`ten_\`: ${FEW_CALLERS} callers. They send a refused request again after \`Retry-After\`, and ` +
  "the time of refusals and of the starts of isolates counts. `cpu_ms_a_call`: CPU time of the " +
  "isolates' threads, imports not counted, for each of these calls.",
  "`isolates_a_thousand`, `refusals_a_thousand`: isolates that started, and requests that were " +
  "refused, for a thousand calls through the function.",
  "`cold_start_ms`: from the start of an isolate's process to its first answer of a call. " +
  "`first_call_cpu_ms`: CPU time of the first call; `warm_`: of those after " +
  `${ISOLATE_WARM_UP} others, as \`_statements\`, with those that begin and end transactions.`,
];

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

/** The variables that the platform sets. */
function environment(
  { stack }: MeasuredStack,
  { jwks }: Registered,
  databaseUrl: string,
): Record<string, string> {
  return {
    SUPABASE_URL: stack.apiUrl,
    SUPABASE_DB_URL: databaseUrl,
    SUPABASE_SECRET_KEYS: JSON.stringify({ default: stack.secretKey }),
    SUPABASE_JWKS: jwks,
    SUPASWARM_ALLOW_LOOPBACK: "true",
  };
}

function throughFunction(isolates: McpIsolates, { credentials }: Registered): McpEndpoint {
  return toEndpoint((request) => isolates.send(SLUG, request), credentials);
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

async function measureCrowd(endpoint: McpEndpoint, callers: number, isolates: McpIsolates) {
  const before = { ...isolates.usage, refusals: endpoint.refusalCount };
  const tookMs = await timeOf(() =>
    Promise.all(Array.from({ length: callers }, async () => {
      for (let call = 0; call < CROWD_CALLS / callers; call++) await endpoint.call(0);
    }))
  );
  const { cpuMs, startedCount } = isolates.usage;
  return {
    calls_per_second: CROWD_CALLS / tookMs * 1_000,
    cpu_ms_a_call: (cpuMs - before.cpuMs) / CROWD_CALLS,
    isolates_a_thousand: (startedCount - before.startedCount) / CROWD_CALLS * 1_000,
    refusals_a_thousand: (endpoint.refusalCount - before.refusals) / CROWD_CALLS * 1_000,
  };
}

function crowdFigures(rounds: Rounds, prefix: string) {
  return {
    [`${prefix}calls_per_second`]: spreadIn(rounds, "proxied", "calls_per_second"),
    [`${prefix}direct_calls_per_second`]: spreadIn(rounds, "direct", "calls_per_second"),
    [`${prefix}stack_calls_per_second`]: spreadIn(rounds, "stack", "calls_per_second"),
    [`${prefix}calls_to_direct`]: ratioIn(rounds, "calls_per_second", "proxied", "direct"),
    [`${prefix}isolates_a_thousand`]: spreadIn(rounds, "proxied", "isolates_a_thousand"),
    [`${prefix}refusals_a_thousand`]: spreadIn(rounds, "proxied", "refusals_a_thousand"),
  };
}

async function measureColdStart(opened: McpIsolates, registered: Registered) {
  await using isolates = opened;
  return { cold_start_ms: await timeOf(() => throughFunction(isolates, registered).call(0)) };
}

/** What the first and the later requests of an isolate cost. */
async function measureIsolate(
  open: (databaseUrl: string) => McpIsolates,
  registered: Registered,
  { stack }: MeasuredStack,
  ask: (endpoint: McpEndpoint) => Promise<void>,
) {
  await using counter = startStatementCounter(stack.dbUrl);
  await using isolates = open(counter.url);
  const endpoint = throughFunction(isolates, registered);
  const costOf = async (requests: number) => {
    const before = { cpuMs: isolates.usage.cpuMs, statements: counter.count };
    for (let request = 0; request < requests; request++) await ask(endpoint);
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
    return {
      cpuMs: (isolates.usage.cpuMs - before.cpuMs) / requests,
      statements: (counter.count - before.statements) / requests,
    };
  };
  await isolates.start();
  const first = await costOf(1);
  await costOf(ISOLATE_WARM_UP);
  const warm = await costOf(ISOLATE_CALLS);
  return {
    first_cpu_ms: first.cpuMs,
    first_statements: first.statements,
    cpu_ms: warm.cpuMs,
    statements: warm.statements,
  };
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
