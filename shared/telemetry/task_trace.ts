import type { ToolCall } from "../agent/planned_call.ts";
import type { TaskContext } from "../agent/task_context.ts";
import type { SwarmError } from "../errors/swarm_error.ts";
import type { TraceHeaders } from "../http/trace_context.ts";
import type { JsonValue } from "../json.ts";
import type { ModelAnswer, ModelUsage } from "../llm/model_port.ts";
import type { ToolCallOutcome } from "../tool_contracts/tool_call.ts";

/** What a model was asked, as far as a trace may tell. */
export interface TracedModelCall {
  readonly seq: number;
  readonly agent: TaskContext["agent"];
  readonly provider: TaskContext["provider"];
}

/** What a trace tells of a model's answer. */
export interface TracedModelAnswer {
  readonly answer: Pick<ModelAnswer, "finish_reason">;
  readonly usage: ModelUsage & { readonly model: string };
}

/** A subtask that is about to be created: its runs hang below the step that creates it. */
export interface TracedSubtask {
  /** Absent: the parent's own. */
  readonly traceparent?: string;
}

/** A created subtask, or the error that it was refused with. */
export interface TracedSpawn {
  readonly seq: number;
  readonly error: JsonValue;
}

/** One worker's run of a task, as its trace sees it. Each method runs `work` and returns its result. */
export interface TaskTrace {
  modelCall<T extends TracedModelAnswer>(
    call: TracedModelCall,
    work: () => Promise<T>,
  ): Promise<T>;
  /** `work` gets the context that the tool is to be called with. */
  toolCall<T extends ToolCallOutcome | SwarmError>(
    call: ToolCall,
    work: (headers: TraceHeaders) => Promise<T>,
  ): Promise<T>;
  /** `work` gets the subtasks with the context that each is to be created with. */
  spawn<S extends { readonly seq: number }, T extends TracedSpawn>(
    subtasks: readonly S[],
    work: (subtasks: readonly (S & TracedSubtask)[]) => Promise<readonly T[]>,
  ): Promise<readonly T[]>;
  /** Notes what the task failed with. */
  noteError(code: string): void;
  /** Ends the run. `end` says how. */
  end(end: string): Promise<void>;
}

/** Where a task's trace comes from. */
export type TaskOfTrace = Pick<TaskContext["task"], "traceparent" | "tracestate">;

/** A run that is not recorded: it hands on what the task was created with. */
export function untraced({ traceparent, tracestate }: TaskOfTrace): TaskTrace {
  return {
    modelCall: (_call, work) => work(),
    toolCall: (_call, work) => work({ traceparent, tracestate }),
    spawn: (subtasks, work) => work(subtasks),
    noteError: () => {},
    end: () => Promise.resolve(),
  };
}
