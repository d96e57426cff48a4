import type { TaskStore } from "../../shared/worker/task_store.ts";

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
