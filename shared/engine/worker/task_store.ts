import type { StepIntent } from "../agent/planned_call.ts";
import type { StoredResult } from "../agent/recalled_result.ts";
import type { StepResult } from "../agent/step_result.ts";
import type { Review, Step } from "../agent/task_context.ts";
import type { ErrorBody } from "../../platform/errors/swarm_error.ts";
import type { JsonObject, JsonValue } from "../../platform/values/json.ts";

/** The right to write to a task. A later claim has a higher epoch and ends this one. */
export interface Lease {
  readonly taskId: string;
  /** Opaque; only compared for equality. */
  readonly epoch: string;
}

/** A task that a worker has claimed. */
export interface ClaimedTask extends Lease {
  /** The task's data from the database; validated by the code that runs it. */
  readonly context: unknown;
  /** Must run on a worker that runs nothing else. @default false */
  readonly runsExclusively?: boolean;
  /** Remaining seconds for which the task's job is watched. @default 0 */
  readonly watchedSeconds?: number;
}

/** A model call with a lost answer, and its estimated usage. */
export interface CutCall {
  readonly seq: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  /** The part of the answer that had arrived. @default what was broadcast of it */
  readonly text?: string;
}

/** The state of a lease. */
export interface TaskLeaseState extends Lease {
  readonly state: "held" | "lost" | "cancelled" | "paused";
  /** Remaining seconds for which the task's job is watched. @default 0 */
  readonly watchedSeconds?: number;
}

/** The result of a checkpoint. */
export interface Checkpoint {
  readonly isCancelled: boolean;
  /** Remaining seconds for which the task's job is watched. @default 0 */
  readonly watchedSeconds?: number;
}

/** A part of a model's streamed answer. */
export interface Delta {
  /** Number of characters (UTF-16 units) of the answer before it. */
  readonly offset: number;
  readonly text: string;
}

/** A stored step. */
export interface StoredStep {
  readonly seq: number;
  readonly state: Step["state"];
  readonly output: JsonValue;
}

/** An ended step for the database. */
export interface StepRecord extends StepIntent {
  readonly state: StepResult["state"];
  readonly output: JsonObject;
  /** Tokens of a model call. */
  readonly usage?: JsonObject;
  /** Goes into the task's intermediate data in the same transaction. */
  readonly data?: JsonObject;
  /** A stored object, added to the task's paths in the same transaction. */
  readonly storage_path?: string;
}

/** A subtask that a `create_subtask` step requests. */
export interface SubtaskRequest {
  readonly seq: number;
  readonly agent: string;
  readonly input: JsonValue;
  /** Why the input does not match the agent's `input_schema`; null if it does. */
  readonly problem: string | null;
  /** The subtask's trace context; absent to use its parent's. */
  readonly traceparent?: string;
}

/** A created subtask, or the error of its refusal, with which its step has ended. */
export interface SpawnOutcome {
  readonly seq: number;
  readonly error: JsonValue;
}

/** A question to a person. */
export interface ReviewRequest {
  readonly seq: number;
  readonly kind: Review["kind"];
  readonly question: string;
  readonly options: JsonValue;
  readonly context: JsonValue;
  /** Steps of tool calls that were written as started and certainly not sent. @default none */
  readonly untriedSeqs?: readonly number[];
}

/** `continue`: the event that the task would wait for has already happened. */
export type ParkOutcome = "parked" | "continue" | "cancelled";

/** How the end of a task that has an output went. */
export type FinishOutcome = "completed" | "cancelled" | "parked";

/** Whether and how a failed task is retried. */
export interface RetryPolicy {
  /**
   * `outage`: the model's provider is unavailable, so the task waits. `rate_limited` does not count
   * as an attempt.
   */
  readonly retry: "never" | "backoff" | "outage" | "rate_limited";
  /** The wait time that the other side requested. */
  readonly retryAfterSeconds: number | null;
}

/** A skill with its instructions and resources. */
export interface Skill {
  readonly skillId: string;
  readonly name: string;
  readonly instructions: string;
  /** Text resources by relative path. */
  readonly resources: Readonly<Record<string, string>>;
  /** Paths of resources that are programs, which are never run. */
  readonly scripts: readonly string[];
}

/** Facts about a task that is returned. */
export interface YieldOptions {
  /** Steps of tool calls that were written as started and certainly not sent. @default none */
  readonly untriedSeqs?: readonly number[];
  /**
   * The pending model call; `is_final` if the task had a worker to itself and still used up its
   * time, so that no other worker could finish the call. @default none
   */
  readonly cutCall?: (CutCall & { readonly is_final: boolean }) | null;
  /**
   * The `{kind, name}` of the pause that the task waits for, or `{}` for one that cuts running work.
   *
   * @default the worker has no room for it
   */
  readonly pause?: JsonObject | null;
}

/**
 * A worker's operations on tasks: one call, one transaction.
 *
 * Every call with a lease throws `LEASE_LOST` if the lease is no longer held; such a call has
 * changed nothing. All throw `DATABASE_UNAVAILABLE` if the database does not respond.
 */
export interface TaskStore {
  /** With `isIdle`, one task that must run alone may be returned, and then no other. */
  claim(workerId: string, limit: number, isIdle?: boolean): Promise<readonly ClaimedTask[]>;
  /** Renews leases; also serves as the worker's heartbeat, so call it without leases too. */
  heartbeat(workerId: string, leases: readonly Lease[]): Promise<readonly TaskLeaseState[]>;
  /**
   * Writes intents; existing steps are returned unchanged.
   *
   * @throws STEPS_EXCEEDED, BUDGET_EXCEEDED, PRICE_UNKNOWN
   */
  begin(lease: Lease, intents: readonly StepIntent[]): Promise<readonly StoredStep[]>;
  /** Records that started steps run again with a person's approval, which is used up by it. */
  beginAgain(lease: Lease, seqs: readonly number[]): Promise<void>;
  /**
   * The checkpoint: results and the next intents. Ended steps do not change.
   *
   * @throws STEPS_EXCEEDED, BUDGET_EXCEEDED, PRICE_UNKNOWN
   */
  record(
    lease: Lease,
    results: readonly StepRecord[],
    next: readonly StepIntent[],
  ): Promise<Checkpoint>;
  /** The `input_schema` of those of these agents that have one. */
  inputSchemas(slugs: readonly string[]): Promise<ReadonlyMap<string, JsonObject>>;
  /** @throws DEPTH_EXCEEDED, CHILDREN_EXCEEDED, TASKS_EXCEEDED, TASK_CANCELLED */
  spawn(lease: Lease, subtasks: readonly SubtaskRequest[]): Promise<readonly SpawnOutcome[]>;
  requestReview(lease: Lease, review: ReviewRequest): Promise<ParkOutcome>;
  /** Waits for subtasks. */
  park(lease: Lease): Promise<ParkOutcome>;
  /**
   * Records the last results, and ends the task: as cancelled if that was requested. A task with
   * running subtasks parks.
   *
   * @param reference Replaces a large output for the parent.
   * @param lastResults @default none
   */
  finish(
    lease: Lease,
    output: JsonValue,
    reference: JsonObject | null,
    lastResults?: readonly StepRecord[],
  ): Promise<FinishOutcome>;
  /** @returns the task's new status. */
  fail(lease: Lease, error: ErrorBody, policy: RetryPolicy): Promise<string>;
  /**
   * Returns the task with its checkpoint; this does not count as an attempt. A task that is
   * returned too often without progress fails.
   */
  yield(lease: Lease, options?: YieldOptions): Promise<void>;
  /** Books a model call with a lost answer. */
  loseCall(lease: Lease, cutCall: CutCall): Promise<void>;
  /**
   * Sends streamed text to the channel of the task's job; never stored.
   *
   * @returns false if it was not sent: the job is not watched, or the project's message limit is
   * reached.
   */
  broadcastDelta(lease: Lease, seq: number, delta: Delta): Promise<boolean>;
  /** One of the agent's own active skills, or null. */
  loadSkill(taskId: string, skillId: string): Promise<Skill | null>;
  /** The result of an ended call of the task, or null if the step is none. */
  readResult(lease: Lease, seq: number): Promise<StoredResult | null>;
  /**
   * Checks whether the task's owner may store this many more bytes.
   *
   * @throws QUOTA_EXCEEDED
   */
  assertMayStore(taskId: string, byteCount: number): Promise<void>;
  stopWorker(workerId: string): Promise<void>;
  /** Milliseconds in which one of these claimed tasks waited and no other was claimed. */
  stalledMs(taskIds: readonly string[]): Promise<number>;
  /** Requests another worker in a separate isolate. */
  wakeSuccessor(): Promise<void>;
  isWakeToken(token: string): Promise<boolean>;
}
