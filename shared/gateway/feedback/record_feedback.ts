import { z } from "../../vendor/zod.js";
import type { Sql } from "../../platform/db/sql_client.ts";
import { toSwarmError } from "../../platform/db/to_swarm_error.ts";
import type { FeedbackRequest } from "./feedback_request.ts";

const gradeSchema = z.object({
  feedback_token: z.string(),
  execution_id: z.string(),
  rating: z.string().nullable(),
  rating_score: z.number().nullable(),
  comment: z.string().nullable(),
  changeable_until: z.string(),
});

/** A current grade; null for missing values. */
export type Grade = z.infer<typeof gradeSchema>;

/**
 * Grades a tool call, or changes its grade: omitted values stay unchanged.
 *
 * @param userId The grading user, which must be the user that the call acted as; null is the
 * service.
 * @throws FEEDBACK_TOKEN_NOT_FOUND, FEEDBACK_CLOSED, DATABASE_UNAVAILABLE
 */
export async function recordFeedback(
  sql: Sql,
  request: FeedbackRequest,
  userId: string | null,
): Promise<Grade> {
  const { feedback_token, rating = null, rating_score = null, comment = null } = request;
  try {
    const [row] = await sql`
      select private.record_feedback(
        p_user_id => ${userId}::uuid,
        p_feedback_token => ${feedback_token}::uuid,
        p_rating => ${rating}::text,
        p_rating_score => ${rating_score}::int,
        p_comment => ${comment}::text
      ) as grade`;
    return gradeSchema.parse(row?.grade);
  } catch (error) {
    throw toSwarmError(error, "grade the tool call");
  }
}
