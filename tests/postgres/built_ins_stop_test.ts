import assert from "node:assert/strict";
import { writeLine } from "../../scripts/terminal.ts";
import { comparableMs } from "../../scripts/test/cpu_time.ts";
import { createSql, type Sql } from "../../shared/platform/db/sql_client.ts";
import { allowedFunctions } from "../../shared/servers/sql/allowed_functions.ts";
import { operandColumns, operandLists, OPERANDS_TABLE } from "../security/largest_operands.ts";
import { startMigratedServer } from "./native_server.ts";

const TIMEOUT_MS = 100;
/** A call may take this long to notice its timeout. */
const MAX_MS = 300;
/** What counts is the least of these runs, with a margin of two. */
const RUNS = 4;
const MARGIN = 2;
/** The unit in which Linux counts the CPU time of a process. */
const TICK_MS = 10;

const GUARDS = ["search", "number", "growth", "key", "shape", "text", "word"].map((kind) =>
  `supaswarm_${kind}_guards`
);

const SETTINGS = `
  set search_path = ${GUARDS.join(", ")}, pg_catalog, public;
  set work_mem = '4MB';
  set max_parallel_workers_per_gather = 0;
  set jit = off;
  set statement_timeout = ${TIMEOUT_MS};
`;

interface Session {
  readonly sql: Sql;
  readonly pid: number;
}

interface BuiltIn {
  readonly name: string;
  readonly kind: "aggregate" | "function" | "operator" | "set";
  readonly types: readonly string[];
}

/** Every allowed function and aggregate, and every operator. */
async function builtIns(sql: Sql): Promise<BuiltIn[]> {
  return await sql<BuiltIn[]>`
    select quote_ident(proname) as name,
      case when prokind = 'a' then 'aggregate' when proretset then 'set' else 'function' end as kind,
      (select coalesce(jsonb_agg(type.typname order by place), '[]')
       from unnest(proargtypes::oid[]) with ordinality as argument (id, place)
       join pg_type as type on type.oid = argument.id) as types
    from pg_proc
    where oid < 16384 and pronamespace = 'pg_catalog'::regnamespace and prokind in ('a', 'f')
      and ${sql.json([...allowedFunctions()])} ? proname
    union all
    select oprname, 'operator', (
      select jsonb_agg(type.typname order by place)
      from unnest(array[oprleft, oprright]) with ordinality as operand (id, place)
      join pg_type as type on type.oid = operand.id)
    from pg_operator
    where oid < 16384 and oprcode <> 0`;
}

function statementsOf({ name, kind, types }: BuiltIn): string[] {
  return operandLists(types).map((operands) => {
    const list = operands.join(", ");
    const [first = "", second] = operands;
    switch (kind) {
      case "aggregate":
        return `select ${name}(${list}) is null from public.operands, generate_series(1, 20)`;
      case "set":
        return `select count(*) from public.operands, ${name}(${list})`;
      case "operator":
        return second === undefined
          ? `select (${name} ${first}) is null from public.operands`
          : `select (${first} ${name} ${second}) is null from public.operands`;
      default:
        return `select ${name}(${list}) is null from public.operands`;
    }
  });
}

/**
 * Milliseconds until a statement with a timeout of 100 ms has ended, in the fastest run. On a busy
 * machine the CPU time of its process counts, and on a slow one how long other work takes.
 */
async function leastMs({ sql, pid }: Session, statement: string, runs = RUNS): Promise<number> {
  const limitMs = MARGIN * MAX_MS;
  let least = Infinity;
  for (let run = 0; run < runs && least > limitMs; run++) {
    const [startedMs, cpuBeforeMs] = [performance.now(), await cpuMsOfProcess(pid)];
    await sql.unsafe(statement).catch(() => {});
    const wallMs = performance.now() - startedMs;
    const cpuMs = await cpuMsOfProcess(pid) - cpuBeforeMs;
    // The timeout itself takes its time, whoever has the processor.
    const ms = Number.isNaN(cpuMs) ? wallMs : Math.min(wallMs, Math.max(TIMEOUT_MS, cpuMs));
    least = Math.min(least, comparableMs(ms, limitMs));
  }
  return least;
}

async function openSession(url: string): Promise<Session> {
  const sql = createSql(url, { maxConnections: 1, applicationName: "stops" });
  const [backend] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
  return { sql, pid: backend?.pid ?? 0 };
}

/** NaN where the system does not have `/proc`. */
async function cpuMsOfProcess(pid: number): Promise<number> {
  const stat = await Deno.readTextFile(`/proc/${pid}/stat`).catch(() => "");
  // The name of the process, the second field, may contain spaces.
  const fields = stat.slice(stat.lastIndexOf(")") + 1).trim().split(" ");
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

Deno.test("a timeout ends every allowed function and operator with its largest operands", async () => {
  await using server = await startMigratedServer();
  const { sql } = server;
  await sql.unsafe(OPERANDS_TABLE);
  for (const statement of operandColumns()) await sql.unsafe(statement);
  const statements = [...new Set((await builtIns(sql)).flatMap(statementsOf))];
  // A statement that waits for its timeout has a processor of its own.
  const sessions = await Promise.all(
    Array.from({ length: navigator.hardwareConcurrency }, () => openSession(server.cluster.url)),
  );
  try {
    const late: string[] = [];
    const left = statements.values();
    await Promise.all(sessions.map(async (session) => {
      await session.sql.unsafe(SETTINGS);
      for (const statement of left) {
        const ms = await leastMs(session, statement);
        if (ms > MARGIN * MAX_MS) late.push(`${Math.round(ms)} ms: ${statement}`);
      }
    }));

    writeLine(`${statements.length} statements`);
    assert.ok(statements.length > 3_000, `${statements.length} statements`);
    assert.deepEqual(late, []);
  } finally {
    await Promise.all(sessions.map((session) => session.sql.end({ timeout: 1 })));
  }
});

Deno.test("without the guards, some of these calls ignore their timeout", async () => {
  await using server = await startMigratedServer();
  const session = await openSession(server.cluster.url);
  const { sql } = session;
  try {
    await sql.unsafe(`set statement_timeout = ${TIMEOUT_MS}`);

    const ms = await leastMs(
      session,
      "select strpos(repeat('a', 240000), 'b' || repeat('a', 120000)) as unguarded",
      1,
    );

    assert.ok(ms > MARGIN * MAX_MS, `${ms} ms`);
  } finally {
    await sql.end({ timeout: 1 });
  }
});
