import type { Json } from "../../../../shared/platform/db/database.types.ts";
import type { Review, ReviewAnswer } from "../../queries/reviews.ts";

/** The answers that a question offers, as text. */
export function optionsOf({ options }: Pick<Review, "options">): string[] {
  return Array.isArray(options) ? options.map(optionText).filter((text) => text !== "") : [];
}

/** An answer in the form that the agent reads: the chosen option is `choice`. */
export function reviewAnswer(
  review: Pick<Review, "task_id">,
  { isApproved, choice, comment }: {
    readonly isApproved: boolean;
    readonly choice: string;
    readonly comment: string;
  },
): ReviewAnswer {
  const trimmed = comment.trim();
  return {
    taskId: review.task_id,
    isApproved,
    response: choice === "" ? {} : { choice },
    comments: trimmed === "" ? null : trimmed,
  };
}

function optionText(option: Json | undefined): string {
  if (typeof option === "string") return option;
  if (typeof option === "number" || typeof option === "boolean") return String(option);
  const { label, title, value } = (option ?? {}) as Record<string, unknown>;
  const text = label ?? title ?? value;
  return typeof text === "string" ? text : JSON.stringify(option);
}
