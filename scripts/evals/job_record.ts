import type { RecordedCall } from "../../shared/engine/evals/test_of_job.ts";
import type { JsonObject, JsonValue } from "../../shared/platform/values/json.ts";

/** What a job of a test did. */
export interface JobRecord {
  readonly taskId: string;
  readonly userId: string;
  readonly input: string | JsonObject;
  /** Null if the job did not complete. */
  readonly output: JsonValue;
  /** Why the job did not complete. */
  readonly error: string | null;
  /** The calls of the job's own task, in order, without the `complete_task` that ends it. */
  readonly calls: readonly RecordedCall[];
  /** The questions to a person in the whole job, in order. */
  readonly questions: readonly string[];
  /** From the start of the job to its end. */
  readonly latencyMs: number;
  /** Of the job with its subtasks; `costMicroUsd` is null for a model without a price. */
  readonly usage: JobUsage;
}

/** What a job with its subtasks used. */
export interface JobUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costMicroUsd: number | null;
  readonly stepCount: number;
  readonly taskCount: number;
}
