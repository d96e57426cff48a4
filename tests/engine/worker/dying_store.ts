import type { TaskStore } from "../../../shared/engine/worker/task_store.ts";
import type { Swarm, TestWorker, WorkerParts } from "./swarm_fixture.ts";

const never = () => new Promise<never>(() => {});

/**
 * A store whose worker dies at the `fatal`-th write and never calls again. Calls `onDeath` when
 * the database has answered the calls before.
 */
function dyingAt(fatal: number, store: TaskStore, onDeath: () => void): TaskStore {
  let writes = 0;
  const sent: Promise<unknown>[] = [];
  const follow = <T>(call: Promise<T>): Promise<T> => {
    sent.push(call);
    return call;
  };
  const die = () => {
    void Promise.allSettled(sent).then(onDeath);
    return never();
  };
  const read = <T>(call: () => Promise<T>) => writes > fatal ? never() : follow(call());
  const write = <T>(call: () => Promise<T>) => ++writes > fatal ? die() : follow(call());
  return {
    ...store,
    claim: (id, limit) => read(() => store.claim(id, limit)),
    heartbeat: (id, leases) => read(() => store.heartbeat(id, leases)),
    begin: (lease, intents) => write(() => store.begin(lease, intents)),
    record: (lease, results, next) => write(() => store.record(lease, results, next)),
    finish: (...end) => write(() => store.finish(...end)),
  };
}

/** A worker that dies. */
export interface DoomedWorker extends TestWorker {
  /** Resolves at its death, when its lease can be ended. */
  readonly died: Promise<void>;
  /** Afterwards it claims nothing, even if it has not died. */
  kill(): void;
}

/** Starts a worker that dies at the `fatal`-th write. */
export function startDoomedWorker(
  swarm: Swarm,
  parts: WorkerParts,
  fatal: number,
): DoomedWorker {
  let isKilled = false;
  const { promise: died, resolve } = Promise.withResolvers<void>();
  const doomed = swarm.startWorker({
    ...parts,
    store: (store) => {
      const dying = dyingAt(fatal, store, resolve);
      return { ...dying, claim: (id, limit) => isKilled ? never() : dying.claim(id, limit) };
    },
  });
  return Object.assign(doomed, { died, kill: () => void (isKilled = true) });
}

/** Ends the timers of dead workers, which never answer. */
export async function abandon(workers: readonly TestWorker[]): Promise<void> {
  const pause = new Promise((resolve) => setTimeout(resolve, 100));
  await Promise.all(workers.map(({ worker }) => Promise.race([worker.unload(), pause])));
}
