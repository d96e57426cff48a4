import { z } from "../../vendor/zod.js";
import { defineTool } from "../../gateway/tool_contracts/internal_server.ts";
import { jobView } from "./job_schema.ts";
import { SWARM_SCOPES } from "./swarm_scopes.ts";
import { watchJob } from "./watch_job.ts";

/** Less than the maximum duration of a call. */
const MAX_WAIT_SECONDS = 50;

/** Shows a task and optionally waits for it. */
export const getTaskTool = defineTool({
  name: "get_task",
  title: "Watch a task",
  description:
    "Shows a task: status, result, open questions to a person and events so far. For a master " +
    "task, questions and events are those of the whole job. With wait_seconds it waits until the " +
    "task has ended or asks a person, and reports each event and the text that the task's model " +
    "writes as progress. Call it again while has_ended is false or has_more_events is true; pass " +
    "next_cursor as cursor to read only new events.",
  version: "1",
  scopes: SWARM_SCOPES,
  annotations: { readOnlyHint: true, openWorldHint: false },
  input: z.strictObject({
    task_id: z.guid(),
    wait_seconds: z.number().min(0).max(MAX_WAIT_SECONDS).default(0),
    cursor: z.string().nullable().default(null)
      .describe("next_cursor of the previous call for this task, unchanged; null reads all events"),
    max_events: z.int().min(0).max(200).default(50),
  }),
  output: jobView,
  async run({ task_id, wait_seconds, cursor, max_events }, context) {
    return await watchJob(task_id, { cursor, limit: max_events }, wait_seconds * 1_000, context);
  },
});
