import { SwarmError } from "../platform/errors/swarm_error.ts";
import { nextTurn } from "../platform/isolate/next_turn.ts";
import { StopReason } from "../engine/work/stop_reason.ts";
import type { WorkControl } from "../engine/work/work_kind.ts";
import type { TaskPorts } from "../engine/worker/task_ports.ts";
import type { Lease, TaskStore } from "../engine/worker/task_store.ts";

/** The ports and the control of a run. */
interface RunMeans {
  readonly ports: TaskPorts;
  readonly control: WorkControl;
}

/**
 * Writes the events and the first step of a task that was handed over, while its run already begins.
 * Everything else that the run writes waits for this, so the first model call may start before it,
 * but no tool call does. If it cannot be written, the run stops as if its lease were lost: the
 * model call is aborted, and nothing is recorded.
 *
 * @returns the ports and the control to run the task with.
 */
export function writeTraceBeside(lease: Lease, { ports, control }: RunMeans): RunMeans {
  const lost = new AbortController();
  // First the model call, which begins in this turn of the event loop.
  const written = nextTurn().then(() => ports.store.beginHanded(lease));
  written.catch((error: unknown) => {
    const code = error instanceof SwarmError ? error.code : "INTERNAL";
    ports.log("warn", "task.let_go", { task_id: lease.taskId, code });
    lost.abort(new StopReason("lost"));
  });
  return {
    ports: { ...ports, store: storeAfter(written, ports.store) },
    control: { ...control, signal: AbortSignal.any([control.signal, lost.signal]) },
  };
}

/** The store, with every operation of the lease waiting for an earlier write to succeed. */
function storeAfter(written: Promise<void>, store: TaskStore): TaskStore {
  const after =
    <Args extends unknown[], Result>(operation: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      await written;
      return await operation(...args);
    };
  return {
    ...store,
    begin: after(store.begin),
    beginAgain: after(store.beginAgain),
    record: after(store.record),
    spawn: after(store.spawn),
    requestReview: after(store.requestReview),
    park: after(store.park),
    finish: after(store.finish),
    fail: after(store.fail),
    yield: after(store.yield),
    loseCall: after(store.loseCall),
    broadcastDelta: after(store.broadcastDelta),
  };
}
