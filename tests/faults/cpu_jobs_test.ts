import assert from "node:assert/strict";
import { type PacedAnswer, startPacedModel } from "../../scripts/models/paced_model.ts";
import { canReadThreadCpu } from "../../stack/functions/thread_cpu.ts";
import { waitFor } from "../../scripts/wait_for.ts";
import { addAgent, addProvider } from "../e2e/operator.ts";
import { bootPlatform, type Platform } from "../e2e/platform.ts";

const TASKS = 8;
const TIMEOUT_MS = 240_000;
/** Well below the time for which deltas are sent. */
const WATCH_EACH_MS = 5_000;

/** Both jobs keep an isolate's streams busy for longer than its CPU time lasts. */
const JOBS = [
  { name: "3,000 pieces over 30 s", answer: { pieces: 3_000, gapMs: 10, turns: 1 } },
  { name: "1,000 pieces over 20 s", answer: { pieces: 1_000, gapMs: 20, turns: 1 } },
] as const;

for (const isWatched of [false, true]) {
  Deno.test({
    name: `under the hosted CPU limits long answers complete after at most two requests each, ${
      isWatched ? "watched" : "unwatched"
    }`,
    ignore: !canReadThreadCpu(),
    fn: (t) => runJobs(t, isWatched),
  });
}

async function runJobs(t: Deno.TestContext, isWatched: boolean): Promise<void> {
  const [first] = JOBS;
  await using model = startPacedModel(first.answer);
  await using platform = await bootPlatform({ db: "native" });
  await addProvider(platform.sql, { name: "paced", baseUrl: model.baseUrl });
  await addAgent(platform.sql, { slug: "paced", provider: "paced" });
  let lastTask = 0;

  for (const { name, answer } of JOBS) {
    await t.step(`${TASKS} tasks, each with one answer of ${name}`, async () => {
      model.play(answer satisfies PacedAnswer);
      const words = Array.from({ length: TASKS }, () => `task-${100 + (lastTask += 1)}`);
      const ids = await Promise.all(words.map((word) => createTask(platform, word)));

      await untilCompleted(platform, ids, isWatched);

      for (const word of words) {
        const calls = model.calls.get(`${word} 0`) ?? 0;
        assert.ok(calls === 1 || calls === 2, `${word} was requested ${calls} times`);
      }
    });
  }

  const terminated = platform.logLines.filter((line) => line.includes('"isolate.terminated"'));
  assert.deepEqual(terminated, [], "no isolate was ended while it had work");
}

async function createTask({ sql }: Platform, word: string): Promise<string> {
  const [row] = await sql<{ id: string }[]>`
    select task_id as id from private.create_task('paced', ${sql.json(word)})`;
  return row?.id ?? "";
}

async function untilCompleted({ sql }: Platform, ids: string[], isWatched: boolean): Promise<void> {
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
    assert.equal(lost, undefined, JSON.stringify(lost));
    return rows.every(({ status }) => status === "completed");
  }, { timeoutMs: TIMEOUT_MS, what: `${ids.length} tasks` });
}
