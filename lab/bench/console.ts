import type { Sql } from "../../shared/platform/db/sql_client.ts";
import { type DemoUser, signUp } from "../../scripts/demo/user_client.ts";
import { type BenchResult, judge, median, rounded, type Spread } from "./bench_result.ts";
import { measurePage, PAGE_NOTES, PAGE_TARGETS } from "./console/measure_page.ts";
import { openPages } from "./console/open_pages.ts";
import { weighFirstPage } from "./console/weigh_first_page.ts";
import { type MeasuredStack, startMeasuredStack } from "./measured_stack.ts";
import { mediansOf, ratioIn, runRounds, spreadIn } from "./rounds.ts";
import { serverVersion } from "./server_version.ts";

/** Jobs of the user, and the same number of jobs of others. */
const JOBS = 100_000;
/** Steps of one job, read in pages of 1,000. */
const STEPS = 10_000;
const PAGE_STEPS = 1_000;
const ROUNDS = 3;
const REQUESTS = 9;

const REST_TARGETS = {
  steps_to_before: { max: 0.5 },
  trace_to_before: { max: 0.5 },
};
const FIRST_PAGE_TARGETS = { first_page_kb: { max: 150 } };
const REST_NOTE =
  "Over REST with a user's token: a page of 50 jobs with their cost, 1,000 of the " +
  "10,000 steps of one job, and the counts of all jobs by status. Before: the rows of `tasks` and " +
  "of `job_usage`, with policies that first read all tasks of the caller.";

/** A platform with a user who has many jobs, and others who have as many. */
interface Measured extends Pick<MeasuredStack, "stack" | "sql"> {
  readonly user: DemoUser;
  readonly userId: string;
}

type Spreads = Readonly<Record<string, Spread>>;

/**
 * The console of an owner of 100,000 jobs beside 100,000 jobs of others: the REST requests of its
 * pages, and the page of a job with 10,000 steps in a real browser.
 *
 * @param db Only `native`: a database with one session does not show a server's plans.
 * @throws Error when there is no Chromium.
 */
export async function benchConsole(db: string): Promise<BenchResult> {
  if (db !== "native") throw new Error("Cannot run the benchmark console: use --db native");
  await using platform = await startMeasuredStack(db);
  const { stack, sql } = platform;
  const user = await signUp(stack, "ada");
  const { data } = await user.client.auth.getUser(user.accessToken);
  if (data.user === null) throw new Error("Cannot find the user who signed up");
  const measured = { stack, sql, user, userId: data.user.id };
  const traced = await fillDatabase(sql, measured.userId);

  const requests = await benchRequests(measured, traced);
  const page = await benchPage(measured);
  const spreads = { ...requests, ...page.spreads };
  return judge(
    "console",
    {
      jobs: JOBS,
      steps: STEPS,
      ...mediansOf(spreads),
      first_page_kb: page.firstPageKb,
    },
    { ...REST_TARGETS, ...PAGE_TARGETS, ...FIRST_PAGE_TARGETS },
    {
      spreads,
      versions: { ...await serverVersion(sql), chromium: page.browserVersion },
      notes: [REST_NOTE, ...PAGE_NOTES],
    },
  );
}

/** Measures the console in a browser. */
async function benchPage({ stack, sql, user, userId }: Measured) {
  await using pages = await openPages(stack, user);
  const firstPageKb = rounded(await weighFirstPage(pages.page));
  const measureOnce = () => measurePage({ sql, pages, ownerId: userId, steps: STEPS });
  // The first job in a browser also compiles the page's code.
  await measureOnce();
  const rounds = await runRounds({ page: measureOnce }, { bench: "console, page", count: ROUNDS });
  const names = Object.keys(rounds.values.page?.[0] ?? {});
  const spreads = Object.fromEntries(names.map((name) => [name, spreadIn(rounds, "page", name)]));
  return { spreads, firstPageKb, browserVersion: pages.browserVersion };
}

/**
 * Measures the requests of the pages: with the current lists, indexes and policies, and as they
 * were before `list_jobs`, `job_counts` and `read_trace` existed.
 */
async function benchRequests({ stack, sql, user }: Measured, traced: string): Promise<Spreads> {
  const send = rest(stack.apiUrl, {
    apikey: stack.publishableKey,
    authorization: `Bearer ${user.accessToken}`,
    "content-type": "application/json",
  });
  const page = "id,status,agent_slug,metadata,created_at,started_at,finished_at";
  const listFromTables = async () => {
    const jobs = await send(
      `tasks?parent_id=is.null&select=${page}&order=created_at.desc,id.desc&limit=50`,
    );
    const ids = jobs.map(({ id }) => String(id)).join(",");
    await send(`job_usage?master_task_id=in.(${ids})`);
  };
  const steps =
    `task_steps?task_id=eq.${traced}&select=task_id,seq,kind,state,name,started_at,ended_at&order=seq&limit=${PAGE_STEPS}`;
  const rounds = await runRounds({
    after: async () => {
      await applyPolicies(sql, "by key");
      return {
        jobs_p50_ms: await p50(() => send("rpc/list_jobs", { p_limit: 50 })),
        failed_jobs_p50_ms: await p50(() =>
          send("rpc/list_jobs", { p_filters: { status: "failed" }, p_limit: 50 })
        ),
        counts_p50_ms: await p50(() => send("rpc/job_counts", {})),
        trace_p50_ms: await p50(() => send("rpc/read_trace", { p_master_task_id: traced })),
        steps_p50_ms: await p50(() => send(steps)),
      };
    },
    before: async () => {
      await applyPolicies(sql, "by all tasks of the reader");
      const stepsMs = await p50(() => send(steps));
      // The steps were the trace.
      return {
        jobs_p50_ms: await p50(listFromTables),
        steps_p50_ms: stepsMs,
        trace_p50_ms: stepsMs,
      };
    },
  }, { bench: "console, requests", count: ROUNDS });
  return {
    ...Object.fromEntries(
      ["jobs_p50_ms", "failed_jobs_p50_ms", "counts_p50_ms", "trace_p50_ms", "steps_p50_ms"]
        .map((name) => [name, spreadIn(rounds, "after", name)]),
    ),
    before_jobs_p50_ms: spreadIn(rounds, "before", "jobs_p50_ms"),
    before_steps_p50_ms: spreadIn(rounds, "before", "steps_p50_ms"),
    steps_to_before: ratioIn(rounds, "steps_p50_ms", "after", "before"),
    trace_to_before: ratioIn(rounds, "trace_p50_ms", "after", "before"),
  };
}

/** Creates ended jobs, of which 2 % failed, and one job with many steps. Returns its id. */
async function fillDatabase(sql: Sql, ownerId: string): Promise<string> {
  // This trigger notifies the embedded Realtime of each row. Hosted projects do not have it.
  await sql`alter table public.tasks disable trigger supaswarm_change_feed`;
  await sql`
    insert into auth.users (id, email, aud, role)
    select md5('other ' || n)::uuid, n || '@example.test', 'authenticated', 'authenticated'
    from generate_series(0, 2) as n`;
  await sql`
    with made as (
      select n, now() - n * interval '1 second' as at,
        case when n % 2 = 0 then ${ownerId}::uuid else md5('other ' || n % 3)::uuid end as owner
      from generate_series(1, ${2 * JOBS}::int) as n
    ),
    job as (
      insert into public.tasks (
        id, master_task_id, agent_slug, input, output, error, status, created_by, created_at,
        started_at, finished_at, metadata
      )
      select own.id, own.id, 'bench', '"now"', to_jsonb(repeat('x', 200)),
        case when made.n % 100 = 0 then '{"code": "X"}'::jsonb end,
        case when made.n % 100 = 0 then 'failed' else 'completed' end,
        made.owner, made.at, made.at, made.at, jsonb_build_object('customer', 'c' || made.n % 1000)
      from made
      cross join lateral (select private.new_id() as id where made.n > 0) as own
      returning id
    )
    insert into private.job_totals (master_task_id, task_count, cost_micro_usd) select id, 1, 5 from job`;
  await sql`
    insert into public.task_steps (task_id, seq, kind, state, name, output, epoch, ended_at)
    select id, 1, 'model', 'done', 'bench', '{"text": "done", "tool_calls": []}', 1, now()
    from public.tasks`;
  const [traced] = await sql<{ id: string }[]>`
    select id from public.tasks where created_by = ${ownerId}::uuid order by id limit 1`;
  if (traced === undefined) throw new Error("Cannot find the created job");
  await sql`
    insert into public.task_steps (
      task_id, seq, kind, state, name, input, output, epoch, ended_at
    )
    select ${traced.id}::uuid, n, 'tool', 'done', 'search', '{"arguments": {}}',
      jsonb_build_object('text', repeat('x', 2000)), 1, now()
    from generate_series(2, ${STEPS}::int) as n`;
  await sql`vacuum analyze public.tasks, public.task_steps, private.job_totals`;
  return traced.id;
}

/** Changes the policy of steps to the current one, or to the earlier one. */
async function applyPolicies(
  sql: Sql,
  way: "by key" | "by all tasks of the reader",
): Promise<void> {
  await sql.unsafe(`
    alter policy "owners read the steps of their tasks" on public.task_steps using (exists (
      select from public.tasks as task
      where task.id = task_id and task.created_by = (select auth.uid())
      ${way === "by key" ? "offset 0" : ""}
    ))`);
}

type Rows = readonly Readonly<Record<string, unknown>>[];

/** Sends requests to the REST API. A request with a body calls a function. */
function rest(apiUrl: string, headers: Readonly<Record<string, string>>) {
  return async (path: string, body?: Readonly<Record<string, unknown>>): Promise<Rows> => {
    const response = await fetch(`${apiUrl}/rest/v1/${path}`, {
      headers,
      ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
    });
    const rows: unknown = await response.json();
    if (!response.ok || !Array.isArray(rows)) {
      throw new Error(`${path} answered ${response.status}: ${JSON.stringify(rows)}`);
    }
    return rows;
  };
}

async function p50(work: () => Promise<unknown>): Promise<number> {
  await work();
  const times: number[] = [];
  for (let n = 0; n < REQUESTS; n++) {
    const startedAt = performance.now();
    await work();
    times.push(performance.now() - startedAt);
  }
  return median(times);
}
