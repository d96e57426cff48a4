import type { FileFacts } from "../file_tokens.ts";
import type { AgentToolset } from "../tool_contracts/agent_tool.ts";
import type { Step, TaskContext } from "./task_context.ts";

/** All that the next decision depends on. */
export interface AgentState {
  /** The task as it was claimed; its `steps` are superseded by those beside it. */
  readonly context: TaskContext;
  /** The transcript as it stands now, by rising `seq`. */
  readonly steps: readonly Step[];
  /** What the agent may use beside the system tools. */
  readonly toolset: AgentToolset;
  /** What is known of the files that the user names, by path. */
  readonly fileFacts: ReadonlyMap<string, FileFacts>;
  /**
   * Started steps of which this delivery knows that they have not run: it wrote the intent itself.
   * Any other started step was left behind by a worker that may have run it.
   */
  readonly untried: ReadonlySet<number>;
  /** `create_subtask` steps whose subtasks this delivery knows to exist. */
  readonly spawned: ReadonlySet<number>;
}
