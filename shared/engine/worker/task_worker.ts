import type { Worker } from "../work/supervisor.ts";
import type { ClaimedWork, WorkKind } from "../work/work_kind.ts";
import { WorkRunner, type WorkRunnerOptions } from "../work/work_runner.ts";
import { runTask } from "./run_task.ts";
import type { TaskEnd } from "./task_end.ts";
import type { TaskPorts } from "./task_ports.ts";
import type { ClaimedTask } from "./task_store.ts";

interface ClaimedTaskWork extends ClaimedWork {
  readonly task: ClaimedTask;
}

/** Creates a worker for tasks. */
export function createTaskWorker(
  { ports, ...options }:
    & Omit<WorkRunnerOptions<ClaimedTaskWork>, "kind" | "clock" | "log">
    & { readonly ports: TaskPorts },
): Worker {
  const { clock, log } = ports;
  return new WorkRunner({ ...options, kind: createTaskKind(ports), clock, log });
}

/** The task goes on, or its failure is logged as `task.failing` and its loss as `task.let_go`. */
const QUIET_ENDS: ReadonlySet<string> = new Set<TaskEnd>([
  "failed",
  "parked",
  "retried",
  "yielded",
  "lost",
]);

/** Tasks, as a kind of work. */
function createTaskKind(ports: TaskPorts): WorkKind<ClaimedTaskWork> {
  const { store } = ports;
  return {
    noun: "task",
    async claim(workerId, { limit, isIdle }) {
      return (await store.claim(workerId, limit, isIdle)).map(toWork);
    },
    async renew(workerId, leases) {
      const states = await store.heartbeat(
        workerId,
        leases.map(({ id, epoch }) => ({ taskId: id, epoch })),
      );
      return states.map(({ taskId, ...state }) => ({ id: taskId, ...state }));
    },
    run: ({ task }, control) => runTask(task, ports, control),
    isQuietEnd: (end) => QUIET_ENDS.has(end),
    stalledMs: (works) => store.stalledMs(works.map(({ id }) => id)),
    wakeSuccessor: () => store.wakeSuccessor(),
    stopWorker: (workerId) => store.stopWorker(workerId),
  };
}

function toWork(task: ClaimedTask): ClaimedTaskWork {
  return {
    id: task.taskId,
    epoch: task.epoch,
    runsExclusively: task.runsExclusively ?? false,
    task,
  };
}
