import type { Json, JsonObject } from "./json.ts";

/** The status of a job or a task. */
export type JobStatus =
  | "pending"
  | "running"
  | "pending_subtask"
  | "needs_human_review"
  | "completed"
  | "failed"
  | "cancelled";

/**
 * What a review is about: a question of the agent, a call that waits for an approval, a call that may
 * have taken effect already, or the tools of the model's provider.
 */
export type ReviewKind = "question" | "call" | "rerun" | "provider_tools";

/** An error that a job or a task stores. */
export interface TaskError {
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
  readonly details?: Json;
}

/**
 * Why the result of a task may be incomplete: a tool that failed and has not succeeded since, or,
 * without a server, an answer that was cut at the output limit (`MODEL_OUTPUT_CUT`) or of which parts
 * could not be read (`MODEL_OUTPUT_INVALID`).
 */
export interface TaskWarning {
  readonly server?: string;
  /** Missing when the whole server was unavailable. */
  readonly tool?: string;
  readonly code?: string;
  readonly message?: string;
  readonly step_seq?: number;
}

/** Tokens of a model call, and what they cost. */
export interface ModelUsage {
  readonly model: string;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly [key: string]: Json | undefined;
}

/** A call that a model requested. */
export interface RequestedCall {
  /** Unique within the answer. */
  readonly call_id: string;
  readonly name: string;
  /** Null if the model wrote no JSON object. */
  readonly arguments: Json;
  readonly [key: string]: Json | undefined;
}

/** A file that a tool returned. */
export interface ToolFile {
  readonly path: string;
  readonly media_type: string;
  readonly bytes: number;
}

interface Start {
  readonly worker_id: string;
  readonly epoch: number;
  readonly deliveries: number;
}

interface ModelStep {
  readonly step_seq: number;
  readonly name?: string;
  /** The prompt omitted a part of the transcript. */
  readonly left_out?: JsonObject;
  /** The call made a summary of the steps up to this one. */
  readonly summarizes_through?: number;
  /** The answer continues the text of this step, which was cut at the output limit. */
  readonly continues?: number;
}

interface ToolEnd {
  readonly step_seq?: number;
  readonly name?: string;
  readonly call_id?: string;
  readonly server?: string;
  readonly text?: string;
  readonly files?: readonly ToolFile[];
  readonly guardrail?: "input" | "output";
}

interface SubtaskStep {
  readonly step_seq: number;
  readonly subtask_id: string;
  readonly agent: string;
}

/** The data of each type of event; docs/reference/events.md describes them. */
export interface JobEventData {
  "task.created": {
    readonly agent: string;
    readonly parent_id?: string;
    readonly forked_from?: { readonly task_id: string; readonly step_seq: number };
    readonly changes?: readonly string[];
    /** The parts of the agent that this job changes. */
    readonly agent_changes?: readonly string[];
  };
  "task.started": Start;
  "task.resumed":
    | (Start & { readonly reason?: undefined })
    | { readonly reason: "continued"; readonly step_seq: number; readonly input: Json };
  /** `pending`: a workflow waits for a signal or a time, no longer than `until`. */
  "task.parked": {
    readonly status: "pending" | "pending_subtask" | "needs_human_review";
    readonly until?: string;
  };
  "task.retried": {
    readonly error?: TaskError;
    readonly retry_at: string;
    /** With `by`, the words of the operator who retried the task. */
    readonly reason: string;
    readonly by?: "operator";
  };
  "task.completed": { readonly output?: Json; readonly warnings?: readonly TaskWarning[] };
  "task.failed": { readonly error: TaskError; readonly warnings?: readonly TaskWarning[] };
  "task.cancelled": {
    readonly error?: TaskError;
    /** Set when an operator of the project cancelled the job, with the operator's `reason`. */
    readonly by?: "operator";
    readonly reason?: string;
  };
  "model.started": ModelStep;
  /** The call was cut; `usage` is an estimate. */
  "model.interrupted": {
    readonly step_seq: number;
    readonly name?: string;
    /** The part of the answer that had arrived. The call is repeated unless the task ends. */
    readonly text?: string;
    readonly usage: JsonObject;
  };
  "model.completed": ModelStep & {
    readonly text?: string;
    readonly reasoning?: Json;
    readonly tool_calls?: readonly RequestedCall[];
    readonly provider_tool_calls?: Json;
    /** The answer is not whole: it was cut at the output limit, or the model refused to go on. */
    readonly finish_reason?: "length" | "refused";
    /** The output limit in tokens, if it is known. */
    readonly cut_at_tokens?: number;
    readonly usage?: ModelUsage;
  };
  "tool.started": {
    readonly step_seq: number;
    readonly name: string;
    readonly server?: string;
    readonly call_id?: string;
    readonly arguments?: Json;
    readonly guardrail?: "input" | "output";
  };
  "tool.completed": ToolEnd;
  "tool.failed": ToolEnd & { readonly error_code?: string };
  "subtask.created": SubtaskStep;
  "subtask.finished": SubtaskStep & { readonly status: "completed" | "failed" | "cancelled" };
  "review.requested": {
    readonly step_seq: number;
    readonly kind?: ReviewKind;
    readonly question: string;
    readonly options?: readonly Json[];
    readonly context?: Json;
  };
  "review.answered": {
    readonly step_seq: number;
    readonly approved: boolean;
    readonly response?: Json;
    /** The arguments of the call as a person approved it. */
    readonly approved_arguments?: JsonObject;
    readonly comments?: string;
    /** How long the agent does not read the answer, which can be taken back meanwhile. */
    readonly hold_seconds?: number;
  };
  /** The answer was taken back; `task.parked` follows. */
  "review.reopened": {
    readonly step_seq: number;
    /** The user who took it back; absent for the service. */
    readonly by?: string;
  };
  "skill.loaded": {
    readonly step_seq: number;
    readonly skill_id: string;
    readonly call_id?: string;
  };
  "data.saved": {
    readonly step_seq: number;
    readonly key: string;
    readonly storage_path?: string;
  };
  /** A step of a workflow ended, or what it waited for has come. */
  "step.completed": {
    readonly step_seq: number;
    readonly name: string;
    /** The signal that it took. */
    readonly signal_id?: number;
  };
  "step.failed": { readonly step_seq: number; readonly name: string };
  "signal.received": { readonly signal_id: number; readonly name: string };
}

/** The type of an event. A later version of the platform may have more. */
export type JobEventType = keyof JobEventData;

/** A stored event of a job: `event.type` tells which data it has. */
export type JobEvent = {
  [Type in JobEventType]: {
    readonly id: number;
    /** The task whose event it is: the job itself or one of its subtasks. */
    readonly task_id: string;
    readonly type: Type;
    readonly at: string;
    readonly data: JobEventData[Type];
  };
}[JobEventType];
