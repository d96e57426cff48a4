import type { FileFacts } from "../../models/llm/file_tokens.ts";
import type { AgentToolset } from "../../gateway/tool_contracts/agent_tool.ts";
import type { ApprovalQuestion } from "../../gateway/tool_contracts/approval.ts";
import type { Step, TaskContext } from "./task_context.ts";

/** Everything the next decision depends on. */
export interface AgentState {
  /** The task as it was claimed; its `steps` are superseded by those beside it. */
  readonly context: TaskContext;
  /** The current transcript, in ascending `seq` order. */
  readonly steps: readonly Step[];
  /** Tools the agent may use in addition to the system tools. */
  readonly toolset: AgentToolset;
  /** Bytes of tool definitions above which the agent searches for tools. */
  readonly toolSearchBytes: number;
  /** Type and size of the user's files, by path. */
  readonly fileFacts: ReadonlyMap<string, FileFacts>;
  /**
   * Started steps that have certainly not run, because this delivery wrote the intent itself. Any
   * other started step was left behind by a worker that may have run it.
   */
  readonly untried: ReadonlySet<number>;
  /** Calls before which a person must be asked, by step; this delivery learned it from the gateway. */
  readonly asked: ReadonlyMap<number, ApprovalQuestion>;
  /** `create_subtask` steps whose subtasks are known to exist. */
  readonly spawned: ReadonlySet<number>;
}
