import {
  type PacedAnswer,
  type PacedModel,
  startPacedModel,
} from "../../scripts/models/paced_model.ts";
import { type BenchResult, judge, rounded } from "./bench_result.ts";
import { type MeasuredStack, startMeasuredStack } from "./measured_stack.ts";
import { waitFor } from "../../scripts/wait_for.ts";

const FUNCTION = "supaswarm-worker";
const AGENT = "paced";
const TIMEOUT_MS = 300_000;
/** The worker still writes some statements after the end of a task is visible. */
const SETTLE_MS = 500;
/** Well below the time for which deltas are sent. */
const WATCH_EACH_MS = 5_000;

/** Batches that differ in only one parameter, so that the CPU time difference is its cost. */
const WARM_UP = { tasks: 4, answer: { pieces: 0, gapMs: 0, turns: 8 } };
const SHORT = { tasks: 30, answer: { pieces: 0, gapMs: 0, turns: 1 } };
const LONG = { tasks: 15, answer: { pieces: 0, gapMs: 0, turns: 8 } };
const QUIET = { tasks: 4, answer: { pieces: 1_000, gapMs: 5, turns: 1 } };

const NOTES = [
  "Each isolate has the hosted limits: no new requests from the soft CPU limit on, its end at the " +
  "hard one. CPU time is that of the isolates' own threads, imports not counted.",
  `A turn is one model call and one tool call that saves a value: ${LONG.tasks} tasks of ` +
  `${LONG.answer.turns} turns beside ${SHORT.tasks} of one. The rest of a task of one turn is its claim and ` +
  "its end, with its share of wakes and polls.",
  `A chunk is a streamed piece of text: ${QUIET.tasks} answers of ${QUIET.answer.pieces} pieces ` +
  "while a client watches, compared to the same answers unwatched, which do not stream.",
];

/** The usage of one batch of tasks. */
interface Batch {
  readonly cpuMs: number;
  readonly modelCallCount: number;
}

/**
 * Measures the worker's CPU time under the hosted limits: per turn, chunk and claim; tasks per
 * isolate.
 */
export async function benchEdge(db: string): Promise<BenchResult> {
  await using model = startPacedModel(SHORT.answer);
  await using stack = await startMeasuredStack(db);
  if (!stack.stack.functionLimits.isCpuEnforced) {
    throw new Error("Cannot measure CPU time: this system does not report it per thread");
  }
  await addPacedAgent(stack, model);
  const run = (
    batch: { readonly tasks: number; readonly answer: PacedAnswer },
    isWatched = false,
  ) => runBatch(stack, model, { ...batch, isWatched });
  // The first tasks of a process include the compilation, which later isolates share.
  await run(WARM_UP);

  const short = await run(SHORT);
  const long = await run(LONG);
  const quiet = await run(QUIET);
  const watched = await run(QUIET, true);

  const perShort = short.cpuMs / SHORT.tasks;
  const perTurn = (long.cpuMs / LONG.tasks - perShort) / (LONG.answer.turns - 1);
  const perChunk = (watched.cpuMs - quiet.cpuMs) / (QUIET.tasks * QUIET.answer.pieces);
  const tasks = WARM_UP.tasks + SHORT.tasks + LONG.tasks + QUIET.tasks * 2;
  const { isolateCount } = stack.stack.functionUsage(FUNCTION);
  const calls = short.modelCallCount + long.modelCallCount + quiet.modelCallCount +
    watched.modelCallCount;
  const expected = SHORT.tasks + LONG.tasks * LONG.answer.turns + QUIET.tasks * 2;
  return judge("edge", {
    cpu_ms_per_turn: rounded(perTurn),
    cpu_ms_per_chunk: rounded(Math.max(0, perChunk)),
    cpu_ms_per_claim: rounded(Math.max(0, perShort - perTurn)),
    isolates: isolateCount,
    tasks_per_isolate: rounded(tasks / isolateCount),
    tasks_completed: tasks,
    model_calls_repeated: calls - expected,
  }, {
    cpu_ms_per_turn: { max: 150 },
    cpu_ms_per_chunk: { max: 0.05 },
  }, { notes: NOTES });
}

/** Registers the model as a separate provider, and an agent that uses it. */
async function addPacedAgent({ sql }: MeasuredStack, { baseUrl }: PacedModel): Promise<void> {
  await sql`
    insert into public.llm_providers
      (name, display_name, api, base_url, default_model, requires_api_key)
    values ('paced', 'Paced', 'openai', ${baseUrl}, 'paced', false)`;
  await sql`
    insert into public.agents (name, slug, system_prompt, provider_id, model)
    select ${AGENT}, ${AGENT}, 'You are timed.', id, 'paced'
    from public.llm_providers where name = 'paced'`;
}

async function runBatch(
  { stack, sql, createTask }: MeasuredStack,
  model: PacedModel,
  { tasks, answer, isWatched }: {
    readonly tasks: number;
    readonly answer: PacedAnswer;
    readonly isWatched: boolean;
  },
): Promise<Batch> {
  model.play(answer);
  const before = stack.functionUsage(FUNCTION);
  const callsBefore = countCalls(model);
  const ids: string[] = [];
  for (let n = 0; n < tasks; n++) {
    ids.push(await createTask(AGENT, { input: `task-${model.calls.size}${n}` }));
  }
  const watch = async () => {
    for (const id of ids) await sql`select private.watch_job(${id}::uuid)`;
  };
  if (isWatched) await watch();
  let watchedAt = performance.now();
  await waitFor(async () => {
    if (isWatched && performance.now() - watchedAt > WATCH_EACH_MS) {
      watchedAt = performance.now();
      await watch();
    }
    const [row] = await sql<{ open: number; lost: string | null }[]>`
      select count(*) filter (where status <> 'completed')::int as open,
        max(error::text) filter (where status in ('failed', 'cancelled')) as lost
      from public.tasks
      where id in (select value::uuid from jsonb_array_elements_text(${sql.json(ids)}))`;
    if (row?.lost) throw new Error(`A task failed: ${row.lost}`);
    return row?.open === 0;
  }, { timeoutMs: TIMEOUT_MS, what: `${tasks} tasks` });
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  const after = stack.functionUsage(FUNCTION);
  return {
    cpuMs: after.cpuMs - before.cpuMs,
    modelCallCount: countCalls(model) - callsBefore,
  };
}

function countCalls({ calls }: PacedModel): number {
  return [...calls.values()].reduce((sum, count) => sum + count, 0);
}
