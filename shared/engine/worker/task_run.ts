import type { TaskContext } from "../agent/task_context.ts";
import type { TaskTrace } from "../trace/task_trace.ts";
import type { ApprovalQuestion } from "../../gateway/tool_contracts/approval.ts";
import type { ToolCaller } from "../../gateway/tool_contracts/tool_caller.ts";
import type { DeltaPace } from "./delta_pace.ts";
import type { TaskPorts } from "./task_ports.ts";
import type { Lease } from "./task_store.ts";
import type { ModelCallUnderWay } from "./model_call_under_way.ts";
import type { Transcript } from "./transcript.ts";
import type { Watch } from "../work/watch.ts";
import type { WorkControl } from "../work/work_kind.ts";

/** A task while a worker runs it. */
export interface TaskRun {
  readonly lease: Lease;
  readonly context: TaskContext;
  readonly transcript: Transcript;
  /** Calls before which a person must be asked, by step. */
  readonly asked: Map<number, ApprovalQuestion>;
  /** The pending model call, if there is one. */
  readonly underWay: { modelCall: ModelCallUnderWay | null };
  readonly trace: TaskTrace;
  readonly ports: TaskPorts;
  readonly control: WorkControl;
  readonly watch: Watch;
  readonly deltaPace: DeltaPace;
}

/** The identity for the task's tool calls: its owner, never the service. */
export function callerOf({ task, agent }: TaskContext): ToolCaller {
  return {
    userId: task.created_by,
    agentId: agent?.id ?? null,
    taskId: task.id,
    clientId: null,
    sessionId: null,
    clientName: null,
    isService: task.created_by === null,
  };
}

/** The path of a task's object. Names created by the platform start with an underscore. */
export function artifactPath({ task }: TaskContext, filename: string): string {
  return `${task.master_task_id}/${task.id}/${filename}`;
}
