import type { Sql } from "../../shared/platform/db/sql_client.ts";
import { runAsUser } from "../../shared/platform/db/run_as_user.ts";
import { readRows } from "../../shared/servers/supabase/read_rows.ts";
import { runGuarded } from "../../shared/servers/supabase/guarded_transaction.ts";
import type { AdmittedStatement } from "../../shared/servers/supabase/judged_call.ts";
import { readSqlSettings } from "../../shared/servers/supabase/sql_settings.ts";
import { statementRequest } from "../../shared/servers/supabase/statement_request.ts";
import { classifySql } from "../../shared/servers/sql/classify_sql.ts";
import { DEFAULT_SQL_POLICY } from "../../shared/servers/sql/sql_policy.ts";
import type { ToolContext } from "../../shared/gateway/tool_contracts/internal_server.ts";
import { PROJECT_ROOT } from "../../scripts/project_root.ts";
import { type BenchResult, judge, median, percentile, rounded } from "./bench_result.ts";
import { openQueueDatabase } from "./queue_database.ts";
import { serverVersion } from "./server_version.ts";

/** 1 KB: two common table expressions, four joins, two windows. */
const QUERY = `
with monthly as (
  select date_trunc('month', o.created_at) as month, o.customer_id, sum(i.quantity * i.unit_price) as revenue,
    count(distinct o.id) filter (where o.status <> 'cancelled') as orders
  from orders o
  join order_items i on i.order_id = o.id
  join products p on p.id = i.product_id and p.category in ('books', 'music', 'games')
  where o.created_at >= now() - interval '12 months' and o.status in ('paid', 'shipped')
  group by 1, 2
), ranked as (
  select month, customer_id, revenue, orders,
    rank() over (partition by month order by revenue desc nulls last) as place,
    revenue - lag(revenue, 1, 0) over (partition by customer_id order by month) as change
  from monthly
)
select to_char(r.month, 'YYYY-MM') as month, c.name, coalesce(c.country, 'unknown') as country,
  round(r.revenue, 2) as revenue, r.orders, r.place, r.change
from ranked r
join customers c on c.id = r.customer_id
left join regions g on g.code = c.region_code
where r.place <= 10 and (g.name ilike '%north%' or g.name is null)
order by r.month desc, r.place
limit 100`;

const PARSES = 400;
const READS = 200;
const COLD_STARTS = 7;
const READ = "select id, name from public.products where id <= 10 order by id";

/**
 * The overhead of SQL tools: parsing and classifying a statement, the first one in a new process,
 * and a guarded read as a ratio to the plain query on the same connection pool.
 *
 * @param db `native` or a URL.
 */
export async function benchSql(db: string): Promise<BenchResult> {
  const parse = await timesOf(PARSES, () => classifySql(QUERY, DEFAULT_SQL_POLICY));
  const cold: number[] = [];
  for (let run = 0; run < COLD_STARTS; run++) cold.push(await firstParseMs());
  await using database = await openQueueDatabase(db);
  const { bare, guarded } = await measureReads(database.sql);
  const figures = {
    query_bytes: QUERY.length,
    parse_and_classify_ms: rounded(median(parse)),
    parse_and_classify_p95_ms: rounded(percentile(parse, 0.95)),
    first_parse_ms: rounded(median(cold)),
    bare_query_ms: rounded(median(bare)),
    guarded_read_ms: rounded(median(guarded)),
    guarded_to_bare: rounded(median(guarded) / median(bare)),
  };
  const targets = { parse_and_classify_ms: { max: 1.5 } };
  return judge("sql", figures, targets, {
    versions: await serverVersion(database.sql),
    notes: [
      "`first_parse_ms` is from the start of the first module of a new process to the first classified statement, with its files in the disk cache: the cost of the parser for the first request that needs it.",
      "A guarded read checks for functions of the project that could run in place of built-in ones, then sends begin, the settings with the caller's role and claims, the cursor, a fetch and the rollback: eight round trips, compared to one for the bare query. Both alternate, ten rows each, on the same machine.",
    ],
  });
}

async function timesOf(count: number, work: () => Promise<unknown>): Promise<number[]> {
  for (let run = 0; run < count / 4; run++) await work();
  const times: number[] = [];
  for (let run = 0; run < count; run++) times.push(await timeOf(work));
  return times;
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

/** Measures the first parse in a separate process without permissions, like a starting function. */
async function firstParseMs(): Promise<number> {
  const source = `
    const startedAt = performance.now();
    const { classifySql } = await import("./shared/sql/classify_sql.ts");
    const policy = { exposedSchemas: ["public"], readFunctions: [], writeFunctions: [] };
    const { statementClass } = await classifySql("select 1", policy);
    if (statementClass !== "read") throw new Error(statementClass);
    console.log(performance.now() - startedAt);`;
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["eval", "--no-check", source],
    cwd: PROJECT_ROOT,
  }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  return Number(new TextDecoder().decode(stdout));
}

async function measureReads(sql: Sql): Promise<{ bare: number[]; guarded: number[] }> {
  await sql.unsafe(`
    create table public.products (id int primary key, name text not null);
    insert into public.products select n, 'product ' || n from generate_series(1, 1000) as n;
    alter table public.products enable row level security;
    create policy everyone on public.products to authenticated using (true);
    grant select on public.products to authenticated`);
  const call = await admittedCall(sql);
  const guardedRead = () => runGuarded(call, true, (asCaller) => readRows(call, asCaller));
  const bareQuery = () => sql.unsafe(READ, [], { prepare: false });
  const bare: number[] = [];
  const guarded: number[] = [];
  for (let run = -READS / 4; run < READS; run++) {
    const times = [await timeOf(bareQuery), await timeOf(guardedRead)] as const;
    if (run < 0) continue;
    bare.push(times[0]);
    guarded.push(times[1]);
  }
  return { bare, guarded };
}

/** Creates a classified read of a user, with the tool context that a read needs. */
async function admittedCall(sql: Sql): Promise<AdmittedStatement> {
  const userId = crypto.randomUUID();
  await sql`insert into auth.users (id, email) values (${userId}, 'reader@example.com')`;
  const verdict = await classifySql(READ, DEFAULT_SQL_POLICY);
  if (verdict.statement === null) throw new Error("Cannot parse the read");
  const { signal } = new AbortController();
  const tokenClaims = { sub: userId, role: "authenticated" };
  const context: Pick<ToolContext, "sql" | "runAsCaller"> = {
    sql,
    runAsCaller: (work, { isReadOnly = true, statementTimeoutMs = 30_000, settings = {} } = {}) =>
      runAsUser(
        sql,
        { userId, tokenClaims, settings, isReadOnly, statementTimeoutMs, signal },
        work,
      ),
  };
  return {
    request: statementRequest.parse({ sql: READ, dry_run: false }),
    context: context as ToolContext,
    settings: await readSqlSettings(sql),
    verdict,
    statement: verdict.statement,
    statementClass: "read",
  };
}
