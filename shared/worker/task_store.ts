import type { StepIntent } from "../agent/planned_call.ts";
import type { StepResult } from "../agent/step_result.ts";
import type { Step } from "../agent/task_context.ts";
import type { ErrorBody } from "../errors/swarm_error.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import type { LoneWork } from "../work/work_kind.ts";

/** The right to write to a task. A later claim has a higher epoch and ends this one. */
export interface Lease {
  readonly taskId: string;
  /** Opaque; only compared for equality. */
  readonly epoch: string;
}

/** A task that a worker has got to run. */
export interface ClaimedTask extends Lease {
  /** What the database knows of the task; checked by who runs it. */
  readonly context: unknown;
  /** Has to be run by a worker that does nothing else. @default false */
  readonly worksAlone?: boolean;
  /** For how many more seconds somebody watches the task's job. @default 0 */
  readonly watchedSeconds?: number;
}

/** A model call whose answer is lost, and what it has probably used. */
export interface CutCall {
  readonly seq: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
}

/** What has become of a lease. */
export interface LeaseState extends Lease {
  readonly state: "held" | "lost" | "cancelled";
  /** For how many more seconds somebody watches the task's job. @default 0 */
  readonly watchedSeconds?: number;
}

/** What a checkpoint answers. */
export interface Checkpoint {
  readonly isCancelled: boolean;
  /** For how many more seconds somebody watches the task's job. @default 0 */
  readonly watchedSeconds?: number;
}

/** A piece of a model's answer as it streams in. */
export interface Delta {
  /** How many characters (UTF-16 units) of the answer come before it. */
  readonly offset: number;
  readonly text: string;
}

/** A step as it is stored. */
export interface StoredStep {
  readonly seq: number;
  readonly state: Step["state"];
  readonly output: JsonValue;
}

/** An ended step as it is written. */
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

/** A subtask that a `create_subtask` step asks for. */
export interface SubtaskRequest {
  readonly seq: number;
  readonly agent: string;
  readonly input: JsonValue;
  /** Where the subtask stands in the trace; absent: where its parent does. */
  readonly traceparent?: string;
}

/** A created subtask, or why it may not be created; its step has then ended with the error. */
export interface SpawnOutcome {
  readonly seq: number;
  readonly error: JsonValue;
}

/** A question to a person. */
export interface ReviewRequest {
  readonly seq: number;
  readonly question: string;
  readonly options: JsonValue;
  readonly context: JsonValue;
}

/** `continue`: what the task wanted to wait for is there already. */
export type ParkOutcome = "parked" | "continue" | "cancelled";

/** Whether, and how, a failed task is tried again. */
export interface RetryPolicy {
  /**
   * `outage`: the model's provider is down, which is waited for. `rate_limited` does not count as an
   * attempt.
   */
  readonly retry: "never" | "backoff" | "outage" | "rate_limited";
  /** What the other side asked for. */
  readonly retryAfterSeconds: number | null;
}

/** A skill with its instructions and resources. */
export interface Skill {
  readonly skillId: string;
  readonly name: string;
  readonly instructions: string;
  /** Text resources by relative path. */
  readonly resources: Readonly<Record<string, string>>;
  /** Paths of resources that are programs: nothing runs them. */
  readonly scripts: readonly string[];
}

/** How tasks are claimed. */
export interface ClaimOptions {
  /**
   * Writes the first step of a task that has none, always a model call, in the same round trip.
   * @default false
   */
  readonly beginsFirstSteps?: boolean;
  /** @default "any" */
  readonly lone?: LoneWork;
  /** The tasks may wait in the worker for a free slot. @default false */
  readonly isAhead?: boolean;
}

/** What is known of a task that is handed back. */
export interface YieldOptions {
  /** Steps of tool calls that were written as started and certainly not sent. @default none */
  readonly untriedSeqs?: readonly number[];
  /**
   * The model call that was under way; `is_final` when the task had a worker for itself and used up
   * its time all the same, so that no other worker could finish the call. @default none
   */
  readonly cutCall?: (CutCall & { readonly is_final: boolean }) | null;
  /** False when it waited for a slot until now. @default true */
  readonly hasBegun?: boolean;
}

/**
 * The tasks as a worker may change them: one call, one transaction.
 *
 * Every call that takes a lease throws `LEASE_LOST` when it is no longer held; such a call has
 * changed nothing. All throw `DATABASE_UNAVAILABLE` when the database does not answer.
 */
export interface TaskStore {
  claim(
    workerId: string,
    limit: number,
    options?: ClaimOptions,
  ): Promise<readonly ClaimedTask[]>;
  /** Renews leases; also says that the worker is alive, so call it without leases too. */
  heartbeat(workerId: string, leases: readonly Lease[]): Promise<readonly LeaseState[]>;
  /**
   * Writes intents; steps that exist come back as they are.
   *
   * @throws STEPS_EXCEEDED, BUDGET_EXCEEDED, PRICE_UNKNOWN
   */
  begin(lease: Lease, intents: readonly StepIntent[]): Promise<readonly StoredStep[]>;
  /** Writes that started steps run once more by a person's leave, which is spent by it. */
  beginAgain(lease: Lease, seqs: readonly number[]): Promise<void>;
  /**
   * The checkpoint: results and the next intents. A step that has ended stays as it is.
   *
   * @throws STEPS_EXCEEDED, BUDGET_EXCEEDED, PRICE_UNKNOWN
   */
  record(
    lease: Lease,
    results: readonly StepRecord[],
    next: readonly StepIntent[],
  ): Promise<Checkpoint>;
  /** @throws DEPTH_EXCEEDED, CHILDREN_EXCEEDED, TASKS_EXCEEDED, TASK_CANCELLED */
  spawn(lease: Lease, subtasks: readonly SubtaskRequest[]): Promise<readonly SpawnOutcome[]>;
  requestReview(lease: Lease, review: ReviewRequest): Promise<ParkOutcome>;
  /** Waits for subtasks. */
  park(lease: Lease): Promise<ParkOutcome>;
  /** `reference` is what a parent gets instead of a large output. */
  finish(
    lease: Lease,
    output: JsonValue,
    reference: JsonObject | null,
  ): Promise<"completed" | "cancelled" | "parked">;
  /** @returns the status that the task now has. */
  fail(lease: Lease, error: ErrorBody, policy: RetryPolicy): Promise<string>;
  /**
   * Hands the task back with its checkpoint; not an attempt. A task that comes back too often
   * without a step in between fails.
   */
  yield(lease: Lease, options?: YieldOptions): Promise<void>;
  /** Books a model call of which nobody will see the answer. */
  loseCall(lease: Lease, cutCall: CutCall): Promise<void>;
  /**
   * Sends streamed text to the channel of the task's job; never stored.
   *
   * @returns false when it was not sent: nobody watches, or the project has no message to spare.
   */
  broadcastDelta(lease: Lease, seq: number, delta: Delta): Promise<boolean>;
  /** One of the agent's own active skills, or null. */
  loadSkill(taskId: string, skillId: string): Promise<Skill | null>;
  /**
   * Asks whether the task's owner may store so many bytes more.
   *
   * @throws QUOTA_EXCEEDED
   */
  assertMayStore(taskId: string, byteCount: number): Promise<void>;
  stopWorker(workerId: string): Promise<void>;
  /** Asks for another worker, in an isolate of its own. */
  wakeSuccessor(): Promise<void>;
  isWakeToken(token: string): Promise<boolean>;
}
