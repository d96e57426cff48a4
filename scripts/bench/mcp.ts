import { type BenchResult, judge, percentile } from "./bench_result.ts";
import { type McpDoor, startToolServer, toDoor } from "./mcp_doors.ts";
import { type MeasuredStack, startMeasuredStack } from "./measured_stack.ts";
import { mediansOf, ratioIn, type Rounds, runRounds, spreadIn } from "./rounds.ts";
import { serverVersion } from "./server_version.ts";

const ROUNDS = 5;
const SERIAL_CALLS = 40;
const CALLERS = 50;
const CALLS_PER_CALLER = 6;
/** What a tool of somebody else's that asks a database or an API takes. */
const WORK_MS = 100;
const LIMIT_PER_MINUTE = 1_000_000;

/**
 * MCP: the same `tools/call` straight to a server and through `/functions/v1/mcp/<server>`, which
 * authenticates, checks scope, limit and arguments, calls, redacts and writes the ledger.
 *
 * @param db `native`, a URL, or `pglite`.
 */
export async function benchMcp(db: string): Promise<BenchResult> {
  await using server = startToolServer();
  await using measured = await startMeasuredStack(db);
  const proxied = await register(measured, server.direct.url);
  const coldStartMs = await timeOf(() => proxied.listTools());
  await proxied.call(0);

  const serial = (door: McpDoor, workMs: number) => () => measureSerial(door, workMs);
  const rounds = await runRounds({
    direct: serial(server.direct, WORK_MS),
    proxied: serial(proxied, WORK_MS),
    direct_idle: serial(server.direct, 0),
    proxied_idle: serial(proxied, 0),
  }, { bench: "mcp", count: ROUNDS });
  const crowds = await runRounds({
    direct: () => measureCrowd(server.direct),
    proxied: () => measureCrowd(proxied),
  }, { bench: `mcp, ${CALLERS} callers`, count: ROUNDS });

  const spreads = {
    ...latenciesOf(rounds),
    p50_to_direct: ratioIn(rounds, "p50_ms", "proxied", "direct"),
    p95_to_direct: ratioIn(rounds, "p95_ms", "proxied", "direct"),
    idle_p50_to_direct: ratioIn(rounds, "p50_ms", "proxied_idle", "direct_idle"),
    calls_per_second: spreadIn(crowds, "proxied", "calls_per_second"),
    direct_calls_per_second: spreadIn(crowds, "direct", "calls_per_second"),
  };
  const figures = {
    work_ms: WORK_MS,
    callers: CALLERS,
    ...mediansOf(spreads),
    cold_start_ms: Math.round(coldStartMs),
  };
  return judge("mcp", figures, {
    p50_to_direct: { max: 1.5 },
    p95_to_direct: { max: 2 },
    calls_per_second: { min: 50 },
  }, {
    spreads,
    versions: await serverVersion(measured.sql),
    notes: [
      `\`direct_\` and \`proxied_\`: one caller, a tool that takes ${WORK_MS} ms. \`idle_\`: a tool ` +
      "that answers at once, so that the difference is the proxy alone.",
      `\`calls_per_second\`: ${CALLERS} callers at once, of a tool that answers at once.`,
      "`cold_start_ms`: the first request that the function ever gets, the server's first list " +
      "included.",
    ],
  });
}

async function register({ sql, stack }: MeasuredStack, url: string): Promise<McpDoor> {
  await sql`
    insert into public.tools (name, slug, type, config)
    values ('Timed', 'timed', 'mcp_server', ${sql.json({ mcp_url: url })})`;
  await sql`
    insert into public.mcp_policies (mcp_name, calls_per_minute, burst_calls)
    values ('timed', ${LIMIT_PER_MINUTE}, ${LIMIT_PER_MINUTE})`;
  return toDoor(`${stack.apiUrl}/functions/v1/mcp/timed`, { apikey: stack.secretKey });
}

async function measureSerial(door: McpDoor, workMs: number) {
  const latenciesMs: number[] = [];
  for (let call = 0; call < SERIAL_CALLS; call++) {
    latenciesMs.push(await timeOf(() => door.call(workMs)));
  }
  return { p50_ms: percentile(latenciesMs, 0.5), p95_ms: percentile(latenciesMs, 0.95) };
}

async function measureCrowd(door: McpDoor) {
  const tookMs = await timeOf(() =>
    Promise.all(Array.from({ length: CALLERS }, async () => {
      for (let call = 0; call < CALLS_PER_CALLER; call++) await door.call(0);
    }))
  );
  return { calls_per_second: CALLERS * CALLS_PER_CALLER / tookMs * 1_000 };
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const beganAtMs = performance.now();
  await work();
  return performance.now() - beganAtMs;
}

function latenciesOf(rounds: Rounds) {
  return Object.fromEntries(
    ["direct", "proxied", "direct_idle", "proxied_idle"].flatMap((system) =>
      ["p50_ms", "p95_ms"].map((name) => [`${system}_${name}`, spreadIn(rounds, system, name)])
    ),
  );
}
