import type { TaskStore } from "../../shared/worker/task_store.ts";
import type { Swarm, TestWorker, WorkerParts } from "./swarm_fixture.ts";

const never = () => new Promise<never>(() => {});

/** A store whose worker dies at the `fatal`-th write and never calls again. */
export function dyingAt(fatal: number, store: TaskStore): TaskStore {
  let writes = 0;
  const step = <T>(write: () => Promise<T>): Promise<T> => ++writes > fatal ? never() : write();
  return {
    ...store,
    claim: (id, limit) => writes > fatal ? never() : store.claim(id, limit),
    heartbeat: (id, leases) => writes > fatal ? never() : store.heartbeat(id, leases),
    begin: (lease, intents) => step(() => store.begin(lease, intents)),
    record: (lease, results, next) => step(() => store.record(lease, results, next)),
    finish: (lease, output, reference) => step(() => store.finish(lease, output, reference)),
  };
}

/** A worker that dies at the `fatal`-th write. After `kill()` it claims nothing either. */
export function startDoomedWorker(
  swarm: Swarm,
  parts: WorkerParts,
  fatal: number,
): TestWorker & { kill(): void } {
  let isDead = false;
  const doomed = swarm.startWorker({
    ...parts,
    store: (store) => {
      const dying = dyingAt(fatal, store);
      return { ...dying, claim: (id, limit) => isDead ? never() : dying.claim(id, limit) };
    },
  });
  return Object.assign(doomed, { kill: () => void (isDead = true) });
}

/** Ends the timers of dead workers, which never answer. */
export async function abandon(workers: readonly TestWorker[]): Promise<void> {
  const pause = new Promise((resolve) => setTimeout(resolve, 100));
  await Promise.all(workers.map(({ worker }) => Promise.race([worker.unload(), pause])));
}
