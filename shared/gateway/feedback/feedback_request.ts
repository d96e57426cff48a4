import { z } from "../../vendor/zod.js";

/** Body of `POST /functions/v1/mcp-feedback`. */
export const feedbackRequest = z.strictObject({
  /** `_meta.feedback_token` of the graded answer. */
  feedback_token: z.guid(),
  rating: z.enum(["up", "down"]).optional(),
  rating_score: z.int().min(1).max(5).optional(),
  comment: z.string().trim().min(1).refine(isShortComment, "must have at most 2000 characters")
    .optional(),
  /** Only with a secret key: the user whom the graded call acted as. */
  on_behalf_of: z.guid().optional(),
}).refine(
  ({ rating, rating_score, comment }) =>
    rating !== undefined || rating_score !== undefined || comment !== undefined,
  "send a rating, a rating_score or a comment",
);

/** A checked grade. */
export type FeedbackRequest = z.infer<typeof feedbackRequest>;

/** In characters as the database counts them, which are not UTF-16 units. */
function isShortComment(comment: string): boolean {
  return comment.length <= 2_000 || [...comment].length <= 2_000;
}
