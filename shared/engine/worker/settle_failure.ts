import { type ErrorBody, SwarmError } from "../../platform/errors/swarm_error.ts";
import { StopReason } from "../work/stop_reason.ts";
import type { TaskEnd } from "./task_end.ts";
import type { TaskRun } from "./task_run.ts";
import type { RetryPolicy, YieldOptions } from "./task_store.ts";
import { pauseOf } from "../../platform/errors/work_paused.ts";

/** The parts of a run needed here; its context may be unreadable. */
export type FailedRun = Omit<TaskRun, "context">;

/**
 * Decides how a task continues whose run was stopped or failed, and applies it. Unwritten results
 * are written first, because they cost money.
 *
 * Never throws: if even this fails, the lease expires and another worker continues.
 */
export async function settleFailure(error: unknown, run: FailedRun): Promise<TaskEnd> {
  try {
    const stopped = [run.control.signal, run.control.paused].find(({ aborted }) => aborted);
    const cause: unknown = stopped === undefined ? error : stopped.reason;
    return cause instanceof StopReason ? await stop(cause, run) : await fail(cause, run);
  } catch (problem) {
    return endOfLease(toTaskError(problem), run);
  }
}

/** Ends the task with an error that a retry cannot fix. */
export async function failTask(error: ErrorBody, run: FailedRun): Promise<TaskEnd> {
  noteFailure(error, run);
  await keepResults(run);
  return toEnd(await run.ports.store.fail(run.lease, error, NEVER));
}

/** The only line of the run at the default level. */
function noteFailure(
  { code, message }: Pick<ErrorBody, "code" | "message">,
  { trace, ports, lease }: FailedRun,
  origin?: string,
): void {
  trace.noteError(code);
  ports.log("warn", "task.failing", { task_id: lease.taskId, code, message, origin });
}

const NEVER: RetryPolicy = { retry: "never", retryAfterSeconds: null };

async function stop({ kind, isFinal }: StopReason, run: FailedRun): Promise<TaskEnd> {
  switch (kind) {
    case "lost":
      return "lost";
    case "cancelled":
      return await cancel(run);
    case "yield":
      return await yieldTask({ cutCall: cutCall(run, isFinal) }, run);
    case "paused":
      return await yieldTask({ cutCall: cutCall(run, false), pause: {} }, run);
  }
}

async function yieldTask(options: YieldOptions, run: FailedRun): Promise<TaskEnd> {
  await keepResults(run);
  await run.ports.store.yield(run.lease, {
    untriedSeqs: run.transcript.untriedCalls,
    ...options,
  });
  return "yielded";
}

async function fail(cause: unknown, run: FailedRun): Promise<TaskEnd> {
  const error = toTaskError(cause);
  if (error.code === "LEASE_LOST" || error.code === "DATABASE_UNAVAILABLE") {
    return endOfLease(error, run);
  }
  if (error.code === "TASK_CANCELLED") return await cancel(run);
  if (error.code === "WORK_PAUSED") return await yieldTask({ pause: pauseOf(error) }, run);
  noteFailure(error, run, originOf(error));
  await keepResults(run);
  if (mayHaveCost(error, run)) await bookLostCall(run);
  return toEnd(await run.ports.store.fail(run.lease, error.toBody(), policyFor(error)));
}

/** Whether the provider has worked on the call that failed. */
function mayHaveCost({ code }: SwarmError, { underWay: { modelCall } }: FailedRun): boolean {
  if (code === "MODEL_TIMEOUT" || code === "MODEL_OUTPUT_INVALID") return true;
  return code === "MODEL_UNAVAILABLE" && modelCall !== null && modelCall.hasAnswer;
}

/** A model call without an answer still costs money, as far as it got. */
async function bookLostCall({ lease, ports, underWay }: FailedRun): Promise<void> {
  const { modelCall } = underWay;
  if (modelCall !== null) await ports.store.loseCall(lease, modelCall.estimate());
}

function cutCall({ underWay: { modelCall } }: FailedRun, isFinal: boolean) {
  return modelCall === null ? null : { ...modelCall.estimate(), is_final: isFinal };
}

/** A cancellation here needs no handling: the next write is recorded as cancelled. */
async function keepResults({ transcript }: FailedRun): Promise<void> {
  try {
    await transcript.flush();
  } catch (error) {
    if (!(error instanceof SwarmError) || error.code !== "TASK_CANCELLED") throw error;
  }
}

/** Finishing a task that is being cancelled records it as cancelled. */
async function cancel(run: FailedRun): Promise<TaskEnd> {
  await bookLostCall(run);
  return await run.transcript.finish(null, null);
}

function endOfLease(error: SwarmError, { lease, ports }: FailedRun): TaskEnd {
  ports.log("warn", "task.let_go", { task_id: lease.taskId, code: error.code });
  return "lost";
}

function policyFor(error: SwarmError): RetryPolicy {
  if (!error.isRetryable) return NEVER;
  const retryAfterSeconds = error.retryAfterSeconds ?? null;
  const isOutage = error.code === "MODEL_UNAVAILABLE" || error.code === "MODEL_TIMEOUT";
  if (isOutage) return { retry: "outage", retryAfterSeconds };
  const isRateLimit = error.code === "MODEL_RATE_LIMITED" || error.code === "TOOL_RATE_LIMITED";
  return { retry: isRateLimit ? "rate_limited" : "backoff", retryAfterSeconds };
}

/** An error without a code could contain anything, so its message is not stored. */
function toTaskError(cause: unknown): SwarmError {
  if (cause instanceof SwarmError) return cause;
  const name = cause instanceof Error ? cause.name : typeof cause;
  return new SwarmError("INTERNAL", "Cannot continue the task: the worker failed unexpectedly", {
    cause,
    hint: "The task is retried; look for its id in the function's log.",
    details: { error: name },
  });
}

/** The location of an unexpected error, without its message. */
function originOf({ code, cause }: SwarmError): string | undefined {
  if (code !== "INTERNAL" || !(cause instanceof Error)) return undefined;
  const frames = cause.stack?.split("\n").filter((line) => /^\s+at /.test(line)) ?? [];
  return [cause.name, ...frames.slice(0, 3).map((line) => line.trim())].join(" < ");
}

function toEnd(status: string): TaskEnd {
  if (status === "failed" || status === "cancelled") return status;
  return "retried";
}
