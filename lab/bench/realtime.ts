import { waitFor } from "../../scripts/wait_for.ts";
import { type BenchResult, judge } from "./bench_result.ts";
import { AGENT, openQueueDatabase, type QueueDatabase } from "./queue_database.ts";
import { mediansOf, runRounds, spreadIn } from "./rounds.ts";
import { serverVersion } from "./server_version.ts";
import { startSlowModel } from "./slow_model.ts";
import { startFunctionWorker } from "./worker_function.ts";

const ROUNDS = 3;
const TASKS = 8;
/** 1,000 pieces over ten seconds. */
const ANSWER = { pieces: 1_000, pieceEachMs: 10 };
const BUDGET = 80;
const SMALL_BUDGET = 10;

const NOTES = [
  `${TASKS} concurrent tasks, each with one answer of ${ANSWER.pieces} pieces over ` +
  `${ANSWER.pieces * ANSWER.pieceEachMs / 1_000} s, with the worker's whole function ` +
  "in a separate process. Messages are rows of `realtime.messages`, by the time at which they were written.",
  `\`small_budget\`: the same with ${SMALL_BUDGET} messages per second instead of ${BUDGET}. ` +
  "`both_channels`: while clients are also on the channels of the tasks.",
];

/** The settings of a round. */
interface Mode {
  readonly isWatched: boolean;
  readonly budget: number;
  readonly hasTaskChannels?: boolean;
}

const MODES: Readonly<Record<string, Mode>> = {
  unwatched: { isWatched: false, budget: BUDGET },
  watched: { isWatched: true, budget: BUDGET },
  small_budget: { isWatched: true, budget: SMALL_BUDGET },
  both_channels: { isWatched: true, budget: BUDGET, hasTaskChannels: true },
};

/** Measures messages per second through Realtime with streaming answers. */
export async function benchRealtime(db: string): Promise<BenchResult> {
  await using database = await openQueueDatabase(db);
  await using model = startSlowModel(ANSWER);
  await database
    .sql`update public.llm_providers set base_url = ${model.baseUrl} where name = 'bench'`;
  const systems = Object.fromEntries(
    Object.entries(MODES).map(([name, mode]) => [name, () => measure(database, mode)]),
  );
  const rounds = await runRounds(systems, {
    bench: "realtime",
    count: ROUNDS,
    before: () => database.reset(),
  });
  const spreads = Object.fromEntries(
    Object.keys(MODES).flatMap((mode) =>
      ["per_second", "most_in_a_second", "an_event", "unsent_events"].map((figure) => [
        `${mode}_${figure}`,
        spreadIn(rounds, mode, figure),
      ])
    ),
  );
  return judge("realtime", { streams: TASKS, ...mediansOf(spreads) }, {
    watched_per_second: { max: 2 * TASKS + 5 },
    watched_most_in_a_second: { max: BUDGET / 2 },
    // The budget counts a row and its receiver.
    small_budget_per_second: { max: 1.25 * SMALL_BUDGET / 2 + TASKS },
    unwatched_an_event: { max: 0 },
    watched_unsent_events: { max: 0 },
    small_budget_unsent_events: { max: 0 },
  }, { spreads, versions: await serverVersion(database.sql), notes: NOTES });
}

async function measure(
  database: QueueDatabase,
  { isWatched, budget, hasTaskChannels = false }: Mode,
): Promise<Record<string, number>> {
  const { sql } = database;
  await sql`
    insert into private.settings (key, value)
    values ('realtime_messages_per_second', ${String(budget)})
    on conflict (key) do update set value = excluded.value`;
  await sql`
    select setval('private.channels_joined_until', 1),
      setval(format('private.joined_channels_%s', place)::regclass, 1)
    from generate_series(0, 127) as place`;
  await sql`
    select case when ${isWatched} then private.watch_job(created.task_id) end,
      case when ${hasTaskChannels} then private.expect_receiver('supaswarm:task:' || created.task_id) end
    from generate_series(1, ${TASKS}::int) as n
    cross join lateral private.create_task(${AGENT}, to_jsonb('now' || n)) as created`;
  await using worker = await startFunctionWorker(database, { slots: TASKS });
  await worker.ask();
  await waitFor(async () => {
    const [row] = await sql<{ count: number }[]>`
      select count(*)::int from public.tasks where status = 'completed'`;
    return row?.count === TASKS;
  }, { timeoutMs: 120_000, what: `${TASKS} completed tasks` });
  return await countMessages(database);
}

async function countMessages({ sql }: QueueDatabase): Promise<Record<string, number>> {
  const [row] = await sql<{ per_second: number; most: number; an_event: number; unsent: number }[]>`
    with message as (
      select event, (payload ->> 'seq')::bigint as seq, (payload ->> 'at')::timestamptz as at
      from realtime.messages
    ),
    run as (select min(at) filter (where event = 'model.started') as began, max(at) as ended from message)
    select
      coalesce(count(*) / extract(epoch from max(run.ended) - max(run.began)), 0)::float8 as per_second,
      coalesce(max((
        select count(*) from message as other
        where other.at >= message.at and other.at < message.at + interval '1 second'
      )), 0)::int as most,
      coalesce(count(message.seq)::float8 / nullif(count(distinct message.seq), 0), 0)::float8 as an_event,
      -- The jobs are watched after their creation.
      (select count(*) from public.task_events as event
        where event.type <> 'task.created' and not exists (select from message as sent where sent.seq = event.id))::int as unsent
    from message, run where message.at >= run.began`;
  if (row === undefined) throw new Error("Cannot count the messages: the query returned no row");
  return {
    per_second: row.per_second,
    most_in_a_second: row.most,
    an_event: row.an_event,
    unsent_events: row.unsent,
  };
}
