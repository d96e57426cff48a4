import assert from "node:assert/strict";
import { checkedJob, PAGES, prepareChecks, shapeOf } from "./checked_job.ts";
import { abandon, startDoomedWorker } from "./dying_store.ts";
import { Swarm, type TestWorker, type WorkerParts } from "./swarm_fixture.ts";

/** For the two runs together: each of them must have at least one write before the worker dies. */
const MOST_WRITES = 20;
const NEVER = new Promise<void>(() => {});

/** The job, and its executed calls. */
function job() {
  const ran: string[] = [];
  return { ran, parts: checkedJob((what) => void ran.push(what)) };
}

async function openSwarm(): Promise<Swarm> {
  const swarm = await Swarm.open();
  await prepareChecks(swarm.sql);
  return swarm;
}

Deno.test("a checked, summarized and continued task survives a death at each of its writes", async (t) => {
  const swarm = await openSwarm();
  const abandoned: TestWorker[] = [];
  try {
    const shape = await runToEnd(swarm, job().parts);
    assert.ok(shape.steps.some(({ input }) => input?.summarizes_through !== undefined));
    assert.equal(shape.steps.filter(({ kind }) => kind === "guardrail").length, 4);
    let deaths = 0;

    for (let fatal = 0; fatal < MOST_WRITES; fatal++) {
      await t.step(`a worker that dies at write ${fatal + 1}`, async () => {
        const { ran, parts } = job();
        const doomed = startDoomedWorker(swarm, parts, fatal);
        abandoned.push(doomed);
        const taskId = await swarm.createTask("Read all");
        const { output, rescues } = await resume(swarm, taskId, parts, doomed.died);
        doomed.kill();
        deaths += rescues;

        assert.equal(output, `I know ${PAGES} pages`);
        assert.deepEqual(await shapeOf(swarm, taskId), shape.steps);
        // The model call and the parallel check of its input count as one.
        const again = ran.length - new Set(ran).size;
        assert.ok(again <= 2, JSON.stringify(ran));
      });
    }
    assert.ok(deaths >= 12, `only ${deaths} workers died`);
  } finally {
    await abandon(abandoned);
    await swarm.close();
  }
});

/** Runs the task to the end of both runs, with a second worker after the death of the first. */
async function resume(swarm: Swarm, taskId: string, parts: WorkerParts, died = NEVER) {
  const rescuers: TestWorker[] = [];
  void died.then(async () => {
    await swarm.endLease(taskId);
    rescuers.push(swarm.startWorker(parts));
  });
  await swarm.until(taskId, "completed");
  await swarm.sql`select public.continue_task(${taskId}::uuid, '"And now?"')`;
  const { output } = await swarm.until(taskId, "completed");
  for (const rescuer of rescuers) await rescuer.stop();
  return { output, rescues: rescuers.length };
}

async function runToEnd(swarm: Swarm, parts: WorkerParts) {
  const worker = swarm.startWorker(parts);
  const taskId = await swarm.createTask("Read all");
  await resume(swarm, taskId, parts);
  await worker.stop();
  return { steps: await shapeOf(swarm, taskId) };
}
