import type { JsonObject } from "../../platform/values/json.ts";

/** A recorded step of a workflow. */
export interface RecordedStep {
  readonly seq: number;
  /** system: a subtask or a question to a person. */
  readonly kind: "step" | "system";
  readonly name: string;
  readonly state: "started" | "done" | "failed";
  /** Null once it has ended. */
  readonly input: JsonObject | null;
  readonly output: JsonObject | null;
  /** The lease under which it was written. */
  readonly epoch: string;
}

/** A step to record. */
export interface StepWrite extends Omit<RecordedStep, "epoch"> {
  /** ISO 8601. @default now */
  readonly started_at?: string;
}

/** Where the steps of one run are recorded. */
export interface Journal {
  /** @returns whether the task is to be cancelled; then nothing was recorded */
  record(steps: readonly StepWrite[]): Promise<boolean>;
  /** Parks the task, unless one of the waits [seq] has ended: then these steps are returned. */
  suspend(waiting: readonly number[]): Promise<readonly RecordedStep[] | "parked" | "cancelled">;
}
