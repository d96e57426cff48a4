import assert from "node:assert/strict";
import { createSupervisor, type Worker } from "./supervisor.ts";

/** A worker that the test can end. */
class ScriptedWorker implements Worker {
  readonly id: string;
  readonly freeSlots = 1;
  wakeCount = 0;
  isClaiming = true;
  end: () => void = () => {};

  constructor(id: string) {
    this.id = id;
  }

  wake(): boolean {
    this.wakeCount++;
    return this.isClaiming;
  }

  run(): Promise<void> {
    return new Promise((resolve) => this.end = resolve);
  }

  unload(): Promise<void> {
    this.end();
    return Promise.resolve();
  }
}

function supervised(isOpen = () => true, noteRequest = () => {}) {
  const workers: ScriptedWorker[] = [];
  const background: Promise<void>[] = [];
  const supervisor = createSupervisor({
    createWorker: () => {
      const worker = new ScriptedWorker(`worker-${workers.length + 1}`);
      workers.push(worker);
      return worker;
    },
    runInBackground: (work) => background.push(work),
    noteRequest,
    isOpen,
    log: () => {},
  });
  return { supervisor, workers, background };
}

Deno.test("the first wake-up starts a worker, the next one only notifies it", () => {
  const { supervisor, workers } = supervised();

  assert.equal(supervisor.wake(), "worker-1");
  assert.equal(supervisor.wake(), "worker-1");

  assert.deepEqual(workers.map(({ wakeCount }) => wakeCount), [1]);
});

Deno.test("a wake-up after the worker has ended starts another one", async () => {
  const { supervisor, workers, background } = supervised();
  supervisor.wake();
  workers[0]?.end();
  await Promise.all(background);

  assert.equal(supervisor.wake(), "worker-2");
});

Deno.test("a wake-up for a worker that is about to end is not lost", async () => {
  const { supervisor, workers, background } = supervised();
  supervisor.wake();
  for (const worker of workers) worker.isClaiming = false;

  supervisor.wake();
  workers[0]?.end();
  await background[0];

  assert.equal(workers.length, 2);
});

Deno.test("no worker is started after the isolate's time limit", async () => {
  const { supervisor, workers, background } = supervised(() => false);
  supervisor.wake();
  for (const worker of workers) worker.isClaiming = false;

  supervisor.wake();
  await supervisor.unload();
  await Promise.all(background);

  assert.equal(workers.length, 1);
});

Deno.test("a wake-up that starts a worker proves, before the worker looks, that the isolate is not retired", () => {
  let isRetired = true;
  const { supervisor, workers } = supervised(() => !isRetired, () => isRetired = false);

  supervisor.wake();
  assert.equal(isRetired, false);

  // The running worker notes its own wake-ups.
  isRetired = true;
  supervisor.wake();
  assert.equal(isRetired, true);
  assert.equal(workers.length, 1);
});
