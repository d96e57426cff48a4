import { type BenchResult, judge } from "./bench_result.ts";
import { AGENT, openQueueDatabase, type QueueDatabase } from "./queue_database.ts";
import { mediansOf, ratioIn, runRounds, spreadIn } from "./rounds.ts";
import { requireSessions, serverVersion } from "./server_version.ts";

const ROUNDS = 7;
const WRITERS = 16;
const SINGLE_MS = 2_000;
const BATCH_TASKS = 250;

const NOTES = [
  `${WRITERS} connections create tasks concurrently, each in a separate transaction (single, for ` +
  `${
    SINGLE_MS / 1_000
  } s) or ${BATCH_TASKS} in one statement (batch, one per connection). Without a wake, the two triggers ` +
  "that notify and request workers are disabled; everything else is the same.",
];

/**
 * Enqueue: how fast tasks are created, and the cost of their wake-ups.
 *
 * @param db `native` or a URL.
 */
export async function benchEnqueue(db: string): Promise<BenchResult> {
  requireSessions("enqueue", db);
  await using database = await openQueueDatabase(db);
  const measure = (isWoken: boolean) => async () => {
    await switchWakes(database, isWoken);
    return {
      single_per_second: await createSingly(database),
      batch_per_second: await createInBatches(database),
    };
  };
  const rounds = await runRounds({ woken: measure(true), unwoken: measure(false) }, {
    bench: "enqueue",
    count: ROUNDS,
    before: () => database.reset(),
  });
  const names = ["single_per_second", "batch_per_second"];
  const spreads = Object.fromEntries(names.flatMap((name) => [
    [name, spreadIn(rounds, "woken", name)],
    [`${name}_without_wake`, spreadIn(rounds, "unwoken", name)],
    [name.replace("per_second", "to_no_wake"), ratioIn(rounds, name, "woken", "unwoken")],
  ]));
  return judge("enqueue", { writers: WRITERS, ...mediansOf(spreads) }, {
    single_to_no_wake: { min: 0.9 },
    batch_to_no_wake: { min: 0.9 },
  }, { spreads, versions: await serverVersion(database.sql), notes: NOTES });
}

async function switchWakes({ sql }: QueueDatabase, isWoken: boolean): Promise<void> {
  const state = isWoken ? "enable" : "disable";
  await sql.unsafe(`
    alter table public.tasks ${state} trigger tasks_wake_on_insert;
    alter table public.tasks ${state} trigger tasks_wake_on_update`).simple();
}

/** Returns tasks per second. */
async function createSingly({ sql }: QueueDatabase): Promise<number> {
  const beganAtMs = performance.now();
  let count = 0;
  await Promise.all(Array.from({ length: WRITERS }, async () => {
    while (performance.now() - beganAtMs < SINGLE_MS) {
      await sql`select task_id from private.create_task(${AGENT}, '"now"')`;
      count++;
    }
  }));
  return count / (performance.now() - beganAtMs) * 1_000;
}

/** Returns tasks per second. */
async function createInBatches({ sql }: QueueDatabase): Promise<number> {
  const beganAtMs = performance.now();
  await Promise.all(Array.from({ length: WRITERS }, () =>
    sql`
      select count(*)
      from generate_series(1, ${BATCH_TASKS}::int) as n
      cross join lateral private.create_task(${AGENT}, to_jsonb('now' || n)) as created`));
  return WRITERS * BATCH_TASKS / (performance.now() - beganAtMs) * 1_000;
}
