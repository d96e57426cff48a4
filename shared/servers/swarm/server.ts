import type { InternalServer } from "../../gateway/tool_contracts/internal_server.ts";
import { answerReviewTool } from "./answer_review.ts";
import { cancelTaskTool, continueTaskTool, forkTaskTool, retryTaskTool } from "./control_task.ts";
import { createTaskTool } from "./create_task.ts";
import { getTaskTool } from "./get_task.ts";
import { listAgentsTool } from "./list_agents.ts";
import { listTasksTool } from "./list_tasks.ts";
import { readPromptTool } from "./read_prompt.ts";
import { readDataTool, readFileTool } from "./read_results.ts";
import { readStepsTool } from "./read_steps.ts";

/** Tools with which an editor creates tasks and follows their progress. */
export const swarmServer: InternalServer = {
  name: "swarm",
  title: "Swarm",
  description:
    "Creates tasks for agents, follows their progress, answers their reviews and reads their results.",
  instructions: "Start with list_agents and create_task. Follow a task with get_task and " +
    "wait_seconds until has_ended. When it lists open_reviews, ask the user, then answer_review. " +
    "A result that names a file is read with read_file, saved data with read_data.",
  tools: [
    answerReviewTool,
    cancelTaskTool,
    createTaskTool,
    forkTaskTool,
    getTaskTool,
    listAgentsTool,
    listTasksTool,
    readDataTool,
    readFileTool,
    readPromptTool,
    readStepsTool,
    retryTaskTool,
    continueTaskTool,
  ],
};
