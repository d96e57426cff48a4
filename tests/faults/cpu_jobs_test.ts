import assert from "node:assert/strict";
import { type PacedAnswer, startPacedModel } from "../../scripts/models/paced_model.ts";
import { canReadThreadCpu } from "../../stack/functions/thread_cpu.ts";
import { waitFor } from "../../scripts/wait_for.ts";
import { addAgent, addProvider } from "../e2e/operator.ts";
import { bootPlatform, type Platform } from "../e2e/platform.ts";

/** Two isolates can hold them: an isolate claims three at a time. */
const TASKS = 6;
const TIMEOUT_MS = 240_000;
/** Well below the time for which deltas are sent. */
const WATCH_EACH_MS = 5_000;

/** Three streams of the first job use more CPU time than the soft limit. */
const JOBS: readonly PacedAnswer[] = [
  { pieces: 6_000, gapMs: 2, turns: 1 },
  { pieces: 1_000, gapMs: 10, turns: 1 },
];

Deno.test({
  name: "under the hosted CPU limits long answers complete after at most two requests each",
  ignore: !canReadThreadCpu(),
  // Both platforms run at the same time, because most of the time is spent waiting.
  fn: async () => void await Promise.all([runJobs("unwatched"), runJobs("watched")]),
});

async function runJobs(kind: "unwatched" | "watched"): Promise<void> {
  const [first = assert.fail()] = JOBS;
  await using model = startPacedModel(first);
  await using platform = await bootPlatform({ db: "native" });
  await addProvider(platform.sql, { name: "paced", baseUrl: model.baseUrl });
  await addAgent(platform.sql, { slug: "paced", provider: "paced" });

  for (const [job, answer] of JOBS.entries()) {
    const what = `${kind} answers of ${answer.pieces} pieces`;
    model.play(answer);
    const words = Array.from({ length: TASKS }, (_, index) => `task-${100 * (job + 1) + index}`);
    const ids = await Promise.all(words.map((word) => createTask(platform, word)));

    await untilCompleted(platform, ids, { isWatched: kind === "watched", what });

    for (const word of words) {
      const calls = model.calls.get(`${word} 0`) ?? 0;
      assert.ok(calls === 1 || calls === 2, `${what}: ${word} was requested ${calls} times`);
    }
  }

  const logged = (event: string) => platform.logLines.filter((line) => line.includes(event));
  assert.deepEqual(logged('"isolate.terminated"'), [], "no isolate was ended while it had work");
  // Otherwise the answers of the watched tasks would be too short to prove anything.
  if (kind === "watched") assert.ok(logged('"isolate.retired"').length > 0, "no isolate retired");
}

async function createTask({ sql }: Platform, word: string): Promise<string> {
  const [row] = await sql<{ id: string }[]>`
    select task_id as id from private.create_task('paced', ${sql.json(word)})`;
  return row?.id ?? "";
}

async function untilCompleted(
  { sql }: Platform,
  ids: string[],
  { isWatched, what }: { readonly isWatched: boolean; readonly what: string },
): Promise<void> {
  const watch = async () => {
    for (const id of ids) await sql`select private.watch_job(${id}::uuid)`;
  };
  let watchedAt = Number.NEGATIVE_INFINITY;
  await waitFor(async () => {
    if (isWatched && performance.now() - watchedAt > WATCH_EACH_MS) {
      watchedAt = performance.now();
      await watch();
    }
    const rows = await sql<{ status: string; error: unknown }[]>`
      select status, error from public.tasks
      where id in (select value::uuid from jsonb_array_elements_text(${sql.json(ids)}))`;
    const lost = rows.find(({ status }) => status === "failed" || status === "cancelled");
    assert.equal(lost, undefined, `${what}: ${JSON.stringify(lost)}`);
    return rows.every(({ status }) => status === "completed");
  }, { timeoutMs: TIMEOUT_MS, what: `${ids.length} ${what}` });
}
