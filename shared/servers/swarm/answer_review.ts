import { z } from "../../vendor/zod.js";
import { toSwarmError } from "../../platform/db/to_swarm_error.ts";
import type { JsonObject } from "../../platform/values/json.ts";
import { defineTool } from "../../gateway/tool_contracts/internal_server.ts";
import { asOwner } from "../as_owner.ts";
import { SWARM_SCOPES } from "./swarm_scopes.ts";

/** Answers a task's question to a person. */
export const answerReviewTool = defineTool({
  name: "answer_review",
  title: "Answer a review",
  description:
    "Answers the open question of a task that waits for a person (open_reviews of get_task). The " +
    "agent reads the answer and continues, approved or not. Ask the user first: the " +
    "decision is theirs.",
  version: "1",
  scopes: SWARM_SCOPES,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false },
  input: z.strictObject({
    task_id: z.guid().describe("The task with the question; may be a subtask"),
    step: z.int().min(1).exactOptional().describe(
      "The step of the question that the user has seen: a question asked since then stays open",
    ),
    approved: z.boolean(),
    response: z.record(z.string(), z.json()).default({}).describe(
      "The requested values. If the review has options, to approve it: {choice: one of them}. To " +
        "approve a tool call (kind call) with other arguments: {arguments: all of them}",
    ),
    comments: z.string().optional().describe("The person's own words"),
  }),
  output: z.object({ task_id: z.string(), status: z.string() }),
  async run({ task_id, step = null, approved, response, comments = null }, context) {
    try {
      const [row] = await asOwner(context, "write", (sql) =>
        sql<{ status: string }[]>`
        select public.respond_to_review(
          p_task_id => ${task_id}::uuid,
          p_approved => ${approved},
          p_response => ${sql.json(response as JsonObject)},
          p_comments => ${comments},
          p_seq => ${step}::int
        ) as status`);
      return { task_id, status: z.string().parse(row?.status) };
    } catch (error) {
      throw toSwarmError(error, "answer the review");
    }
  },
});
