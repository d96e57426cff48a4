import type { ToolCall } from "../agent/planned_call.ts";
import type { TaskContext } from "../agent/task_context.ts";
import type { SwarmError } from "../../platform/errors/swarm_error.ts";
import type { TraceHeaders } from "../../platform/http/trace_context.ts";
import type { JsonValue } from "../../platform/values/json.ts";
import type { ModelAnswer, ModelUsage } from "../../models/llm/model_port.ts";
import type { ToolCallOutcome } from "../../gateway/tool_contracts/tool_call.ts";

/** The model call data that a trace may contain. */
export interface TracedModelCall {
  readonly seq: number;
  readonly agent: TaskContext["agent"];
  readonly provider: TaskContext["provider"];
}

/** The data of a model's answer in a trace. */
export interface TracedModelAnswer {
  readonly answer: Pick<ModelAnswer, "finish_reason">;
  readonly usage: ModelUsage & { readonly model: string };
}

/** A subtask that is about to be created: its runs are children of the step that creates it. */
export interface TracedSubtask {
  /** Absent to use the parent's own. */
  readonly traceparent?: string;
}

/** A created subtask, or the error of its refusal. */
export interface TracedSpawn {
  readonly seq: number;
  readonly error: JsonValue;
}

/** The trace of one worker's run of a task. Each method runs `work` and returns its result. */
export interface TaskTrace {
  modelCall<T extends TracedModelAnswer>(call: TracedModelCall, work: () => Promise<T>): Promise<T>;
  /** `work` gets the trace context for the tool call. */
  toolCall<T extends ToolCallOutcome | SwarmError>(
    call: ToolCall,
    work: (headers: TraceHeaders) => Promise<T>,
  ): Promise<T>;
  /** `work` gets the subtasks with their trace contexts. */
  spawn<S extends { readonly seq: number }, T extends TracedSpawn>(
    subtasks: readonly S[],
    work: (subtasks: readonly (S & TracedSubtask)[]) => Promise<readonly T[]>,
  ): Promise<readonly T[]>;
  /** Records the task's error. */
  noteError(code: string): void;
  /** Ends the run. `end` says how. */
  end(end: string): Promise<void>;
}

/** The trace data of a task. */
export type TaskOfTrace = Pick<TaskContext["task"], "traceparent" | "tracestate">;

/** An unrecorded run: it passes on the task's own trace context. */
export function untraced({ traceparent, tracestate }: TaskOfTrace): TaskTrace {
  return {
    modelCall: (_call, work) => work(),
    toolCall: (_call, work) => work({ traceparent, tracestate }),
    spawn: (subtasks, work) => work(subtasks),
    noteError: () => {},
    end: () => Promise.resolve(),
  };
}
