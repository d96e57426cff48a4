import { taskContext } from "../../shared/engine/agent/task_context.ts";
import type { Sql } from "../../shared/platform/db/sql_client.ts";
import type { JsonObject } from "../../shared/platform/values/json.ts";
import { byteLength } from "../../shared/platform/values/byte_length.ts";
import { isolateClock } from "../../shared/platform/isolate/clock.ts";
import { createSqlTaskStore } from "../../shared/engine/worker/sql_task_store.ts";
import type { ClaimedTask, TaskStore } from "../../shared/engine/worker/task_store.ts";
import { type BenchResult, judge, median } from "./bench_result.ts";
import { AGENT, openQueueDatabase } from "./queue_database.ts";
import { longTranscript } from "./long_transcript.ts";
import { intentOf, RESULT_BYTES, resultOf, usageOfACall } from "./recorded_turns.ts";
import { mediansOf, runRounds, spreadIn } from "./rounds.ts";
import { serverVersion } from "./server_version.ts";

const ROUNDS = 5;
const STEPS = 500;
/** Steps of the task whose transcript is mostly summarized, and how many are written at a time. */
const MANY_STEPS = 5_000;
const BATCH_STEPS = 100;
/** The first and the last checkpoint of each compared part. */
const EARLY = [11, 60] as const;
const LATE = [451, 500] as const;

/**
 * Steps: the cost of a checkpoint early and late in one task, and of resuming a task with 500 steps
 * and one with 5,000. Uses the worker's store with turns of a model call with its usage and a tool
 * call with a result of 4 KB. Each of the 500 is written with the intent of the next.
 *
 * @param db `pglite`, `native` or a URL.
 */
export async function benchSteps(db: string): Promise<BenchResult> {
  await using database = await openQueueDatabase(db);
  const { sql } = database;
  const store = createSqlTaskStore(sql, { leaseSeconds: 60, clock: isolateClock });
  const usage = await usageOfACall(sql);

  // Run one task first, to warm up the functions' plans and this program.
  await takeSteps(sql, store, usage);
  const rounds = await runRounds(
    { supaswarm: () => takeSteps(sql, store, usage) },
    { bench: "steps", count: ROUNDS },
  );
  await takeManySteps(sql, store, usage);
  const manyRounds = await runRounds(
    { supaswarm: () => resumeMany(store) },
    { bench: "steps, many", count: ROUNDS },
  );
  const spreads = Object.fromEntries([
    ...["late_to_early", "early_ms", "late_ms", "resume_ms"]
      .map((name) => [name, spreadIn(rounds, "supaswarm", name)]),
    ...["resume_many_ms", "resume_many_bytes", "resume_many_steps"]
      .map((name) => [name, spreadIn(manyRounds, "supaswarm", name)]),
  ]);
  return judge("steps", { steps: STEPS, many_steps: MANY_STEPS, ...mediansOf(spreads) }, {
    late_to_early: { max: 1.15 },
    resume_ms: { max: 50 },
    resume_many_ms: { max: 60 },
  }, {
    spreads,
    versions: await serverVersion(sql),
    notes: [
      `Checkpoints ${EARLY.join(" to ")} and ${
        LATE.join(" to ")
      } of one task, the median of each part; every second one stores ${RESULT_BYTES} bytes. \`resume_ms\`: the task is returned and claimed again, with all its steps in one round trip, and its context is checked.`,
      "`resume_many_ms`: the same for a task of 5,000 steps with the summaries that its agent asks for in a window of 128,000 tokens. The context has `resume_many_steps` of its steps in `resume_many_bytes`.",
    ],
  });
}

async function takeSteps(sql: Sql, store: TaskStore, usage: JsonObject) {
  await sql`select private.create_task(${AGENT}, '"now"')`;
  const lease = await claimOne(store);
  const timesMs: number[] = [];
  await store.begin(lease, [intentOf(1)]);
  for (let seq = 1; seq <= STEPS; seq++) {
    const next = seq < STEPS ? [intentOf(seq + 1)] : [];
    const startMs = performance.now();
    await store.record(lease, [resultOf(seq, usage)], next);
    timesMs.push(performance.now() - startMs);
  }
  await store.yield(lease);

  const startMs = performance.now();
  const resumed = await claimOne(store);
  const { steps } = taskContext.parse(resumed.context);
  const resumeMs = performance.now() - startMs;
  if (steps.length !== STEPS) {
    throw new Error(`Cannot resume: the claim returned ${steps.length} steps`);
  }
  await store.finish(resumed, "done", null);

  const [early, late] = [EARLY, LATE].map(([first, last]) =>
    median(timesMs.slice(first - 1, last))
  );
  if (early === undefined || late === undefined) {
    throw new Error("Cannot measure the steps: no checkpoint was measured");
  }
  return { early_ms: early, late_ms: late, late_to_early: late / early, resume_ms: resumeMs };
}

/** Writes a task of many steps and returns it to the queue. */
async function takeManySteps(sql: Sql, store: TaskStore, usage: JsonObject): Promise<void> {
  const records = longTranscript(MANY_STEPS, usage);
  await sql`
    select private.create_task(
      p_agent => ${AGENT}, p_input => '"now"',
      p_budget => ${sql.json({ max_steps: MANY_STEPS + BATCH_STEPS })}
    )`;
  const lease = await claimOne(store);
  for (let from = 0; from < records.length; from += BATCH_STEPS) {
    await store.record(lease, records.slice(from, from + BATCH_STEPS), []);
  }
  await store.yield(lease);
}

async function resumeMany(store: TaskStore) {
  const startMs = performance.now();
  const resumed = await claimOne(store);
  const { steps } = taskContext.parse(resumed.context);
  const resumeMs = performance.now() - startMs;
  const bytes = byteLength(JSON.stringify(resumed.context));
  if (steps.at(-1)?.seq !== MANY_STEPS) {
    throw new Error(`Cannot resume: the last step is ${steps.at(-1)?.seq}`);
  }
  await store.yield(resumed);
  return {
    resume_many_ms: resumeMs,
    resume_many_bytes: bytes,
    resume_many_steps: steps.length,
  };
}

async function claimOne(store: TaskStore): Promise<ClaimedTask> {
  const [task] = await store.claim("bench", 1);
  if (task === undefined) throw new Error("Cannot claim a task: there is none");
  return task;
}
