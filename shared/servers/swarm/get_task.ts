import { z } from "../../vendor/zod.js";
import { defineTool } from "../../tool_contracts/internal_server.ts";
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
    "writes as progress. Call it again while has_ended is false; pass last_event_id as " +
    "after_event to read only new events.",
  version: "1",
  scopes: SWARM_SCOPES,
  annotations: { readOnlyHint: true, openWorldHint: false },
  input: z.strictObject({
    task_id: z.guid(),
    wait_seconds: z.number().min(0).max(MAX_WAIT_SECONDS).default(0),
    after_event: z.int().min(0).default(0).describe("Only events with a larger id"),
    max_events: z.int().min(0).max(200).default(50),
  }),
  output: jobView.extend({
    last_event_id: z.number().describe("The after_event for the next call"),
  }),
  async run({ task_id, wait_seconds, after_event, max_events }, context) {
    const range = { after: after_event, limit: max_events };
    const job = await watchJob(task_id, range, wait_seconds * 1_000, context);
    return { ...job, last_event_id: job.events.at(-1)?.id ?? after_event };
  },
});
