import { reviewersWords } from "./approval_review.ts";
import type { CallIntent, ReviewCall } from "./planned_call.ts";
import { errorResult, type StepResult } from "./step_result.ts";
import type { Review } from "./task_context.ts";

/** Asks a person whether a call with an unknown outcome may be made again. */
export function unknownOutcomeReview(intent: CallIntent): ReviewCall {
  return {
    kind: "review",
    reviewKind: "rerun",
    seq: intent.seq,
    intent,
    question: `The call of the tool "${intent.name}" was started, but its outcome is unknown: ` +
      "it may have taken effect or not. May it be made again?",
    options: null,
    context: {
      reasons: ["outcome_unknown"],
      tool: intent.name,
      server: intent.input?.server ?? null,
      arguments: intent.input?.arguments ?? {},
    },
  };
}

/** The result that the agent sees when a person rejects another call. */
export function refusedRerunResult(review: Review): StepResult {
  return errorResult(
    "TOOL_OUTCOME_UNKNOWN",
    "The call was started, but its outcome is unknown: it may have taken effect or not. A person " +
      `decided not to make it again${reviewersWords(review)}`,
  );
}

/** The result that the agent sees when the second, approved call has an unknown outcome too. */
export function stillUnknownResult(message: string): StepResult {
  return errorResult(
    "TOOL_OUTCOME_UNKNOWN",
    `The call was made again, and its outcome is still unknown: ${message} Do not repeat it; ` +
      "find out by other means whether it took effect, or ask a person.",
  );
}
