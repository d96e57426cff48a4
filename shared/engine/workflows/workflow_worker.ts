import { toSwarmError } from "../../platform/db/to_swarm_error.ts";
import type { ErrorBody } from "../../platform/errors/swarm_error.ts";
import type { Clock } from "../../platform/isolate/clock.ts";
import type { Logger } from "../../platform/log/logger.ts";
import { StopReason } from "../work/stop_reason.ts";
import type { Worker } from "../work/supervisor.ts";
import type { ClaimedWork, WorkControl, WorkKind } from "../work/work_kind.ts";
import { WorkRunner, type WorkRunnerOptions } from "../work/work_runner.ts";
import type { TaskStore } from "../worker/task_store.ts";
import type { FlowHost } from "./create_flow.ts";
import { runCode } from "./run_code.ts";
import type { AnyWorkflow } from "./workflow.ts";
import type { RunEnd } from "./workflow_run.ts";
import type { ClaimedWorkflow, WorkflowStore } from "./workflow_store.ts";

/** What a runner of workflows uses. */
export interface WorkflowPorts {
  readonly store: WorkflowStore;
  readonly tasks: Pick<TaskStore, "heartbeat" | "yield" | "fail" | "stopWorker" | "stalledMs">;
  readonly workflows: readonly AnyWorkflow[];
  readonly host: FlowHost;
  readonly clock: Clock;
  readonly log: Logger;
}

interface WorkflowWork extends ClaimedWork {
  readonly claimed: ClaimedWorkflow;
}

/** Their steps are read with one call. */
const MAX_CLAIMED = 200;
/** The task goes on, or its failure is logged as `task.failing` and its loss as `task.let_go`. */
const QUIET_ENDS: ReadonlySet<string> = new Set(["failed", "parked", "yielded", "lost"]);

/** Creates a worker for the workflows of one runner. */
export function createWorkflowWorker(
  { ports, ...options }:
    & Omit<WorkRunnerOptions<WorkflowWork>, "kind" | "clock" | "log">
    & { readonly ports: WorkflowPorts },
): Worker {
  const { clock, log } = ports;
  return new WorkRunner({ ...options, kind: createWorkflowKind(ports), clock, log });
}

/** Tasks of workflows, as a kind of work. */
function createWorkflowKind(ports: WorkflowPorts): WorkKind<WorkflowWork> {
  const { store, tasks } = ports;
  return {
    noun: "task",
    async claim(workerId, { limit, isIdle }) {
      const claimed = await store.claim(workerId, Math.min(limit, MAX_CLAIMED), isIdle);
      return claimed.map((claim) => ({
        id: claim.taskId,
        epoch: claim.epoch,
        runsExclusively: claim.runsExclusively,
        claimed: claim,
      }));
    },
    async renew(workerId, leases) {
      const held = leases.map(({ id, epoch }) => ({ taskId: id, epoch }));
      const states = await tasks.heartbeat(workerId, held);
      return states.map(({ taskId, ...state }) => ({ id: taskId, ...state }));
    },
    run: ({ claimed }, control) => runClaimed(claimed, ports, control),
    isQuietEnd: (end) => QUIET_ENDS.has(end),
    stalledMs: (works) => tasks.stalledMs(works.map(({ id }) => id)),
    wakeSuccessor: () => store.wakeSuccessor(),
    stopWorker: (workerId) => tasks.stopWorker(workerId),
  };
}

async function runClaimed(
  claimed: ClaimedWorkflow,
  ports: WorkflowPorts,
  control: WorkControl,
): Promise<string> {
  const { store, clock, log, host } = ports;
  const workflow = ports.workflows.find(({ name }) => name === claimed.workflow);
  // A claim names the workflows that this runner has.
  if (workflow === undefined) return "expires";
  try {
    const end = await runCode(workflow, claimed, {
      host,
      journal: store.journal(claimed),
      control: {
        clock,
        now: () => new Date(),
        isClosing: () => control.isClosing() || control.paused.aborted,
        signal: control.signal,
        log: (message, facts) =>
          log("info", "workflow.log", { task_id: claimed.taskId, message, facts }),
      },
    });
    return await settle(end, claimed, ports, control);
  } catch (cause) {
    return await settleError(cause, claimed, ports);
  }
}

async function settle(
  end: RunEnd,
  claimed: ClaimedWorkflow,
  ports: WorkflowPorts,
  { signal }: WorkControl,
): Promise<string> {
  switch (end.end) {
    case "completed":
      return await ports.store.finish(claimed, end.output);
    case "failed":
      return await fail(end.error, claimed, ports);
    case "parked":
      return "parked";
    case "yielded":
      if (signal.reason instanceof StopReason && signal.reason.kind === "lost") return "lost";
      await ports.tasks.yield(claimed);
      return "yielded";
    case "cancelled":
      // Returning a task that is to be cancelled cancels it.
      await ports.tasks.yield(claimed);
      return "cancelled";
  }
}

async function fail(
  error: ErrorBody,
  claimed: ClaimedWorkflow,
  { tasks, log }: WorkflowPorts,
): Promise<string> {
  const { code, message } = error;
  log("warn", "task.failing", { task_id: claimed.taskId, code, message });
  return await tasks.fail(claimed, error, { retry: "never", retryAfterSeconds: null });
}

/** Without a database the lease expires, and another worker continues. */
async function settleError(
  cause: unknown,
  claimed: ClaimedWorkflow,
  ports: WorkflowPorts,
): Promise<string> {
  const error = toSwarmError(cause, "run the workflow");
  if (error.code !== "LEASE_LOST" && error.code !== "DATABASE_UNAVAILABLE") {
    try {
      return await fail(error.toBody(), claimed, ports);
    } catch (failure) {
      return letGo(toSwarmError(failure, "fail the workflow").code, claimed, ports);
    }
  }
  return letGo(error.code, claimed, ports);
}

function letGo(code: string, { taskId }: ClaimedWorkflow, { log }: WorkflowPorts): string {
  log("warn", "task.let_go", { task_id: taskId, code });
  return "lost";
}
