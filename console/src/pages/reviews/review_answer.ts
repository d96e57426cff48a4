import type { Json, JsonSchema } from "../../../../client/mod.ts";
import { isJsonObject } from "../../format/json_text.ts";
import type { Review, ReviewAnswer, ReviewOutcome } from "../../queries/reviews.ts";

/** The answers that a question offers. Approving requires one of them. */
export function optionsOf({ options }: Pick<Review, "options">): string[] {
  return Array.isArray(options) ? options.filter((option) => typeof option === "string") : [];
}

/** The review after one in a list, whose first one follows the last; null if there is no other. */
export function otherAfter<One extends Pick<Review, "id">>(
  reviews: readonly One[],
  id: string | undefined,
): One | null {
  const at = reviews.findIndex((review) => review.id === id);
  return [...reviews.slice(at + 1), ...reviews.slice(0, Math.max(at, 0))][0] ?? null;
}

/** A tool call that waits for an approval. */
export interface AskedCall {
  readonly server: string;
  readonly tool: string;
  /** Null if nothing leaves the project. */
  readonly destination: string | null;
  readonly arguments: Json;
  readonly schema: JsonSchema;
  /** Further facts, such as the plan of a statement; null if there are none. */
  readonly shown: Json;
}

/** The tool call that a review is about, with arguments that the person may change; null if none. */
export function askedCall({ kind, context }: Pick<Review, "kind" | "context">): AskedCall | null {
  if (kind !== "call" || !isJsonObject(context)) return null;
  const { server, tool, destination, arguments: args = {}, input_schema: schema, shown } = context;
  return {
    server: String(server),
    tool: String(tool),
    destination: typeof destination === "string" ? destination : null,
    arguments: args,
    schema: (typeof schema === "object" && schema !== null ? schema : {}) as JsonSchema,
    shown: shown ?? null,
  };
}

/** Approving or rejecting a call can have effects, so the agent gets the answer only after this time. */
const HOLD_SECONDS = 5;

/** What a person has entered. */
export interface GivenAnswer {
  readonly isApproved: boolean;
  readonly choice: string;
  readonly comment: string;
  /** Of a tool call; null for another review. */
  readonly arguments: Json;
}

/**
 * An answer in the form that the agent reads: the chosen option is `choice`, changed arguments of
 * an approved call are `arguments`.
 */
export function reviewAnswer(
  review: Pick<Review, "task_id" | "seq" | "kind" | "context">,
  { isApproved, choice, comment, arguments: args }: GivenAnswer,
): ReviewAnswer {
  const trimmed = comment.trim();
  const asked = askedCall(review);
  const isChanged = isApproved && asked !== null &&
    JSON.stringify(args) !== JSON.stringify(asked.arguments);
  return {
    taskId: review.task_id,
    seq: review.seq,
    isApproved,
    response: {
      ...(choice === "" ? {} : { choice }),
      ...(isChanged ? { arguments: args } : {}),
    },
    comments: trimmed === "" ? null : trimmed,
    holdSeconds: review.kind === "question" ? 0 : HOLD_SECONDS,
  };
}

/** A sentence about an answer that was given elsewhere. */
export function outcomeText(
  { approved, response, created_by: by, answered_as: as, client_id: client }: ReviewOutcome,
  userId: string,
): string {
  if (approved === null) return "The task ended before this question was answered.";
  const who = as === "client"
    ? `The application ${client ?? "of an unknown client"}`
    : as === "service"
    ? "A secret key of the project"
    : by === userId
    ? "You, in another window,"
    : "Another user";
  const { choice } = (response ?? {}) as { choice?: unknown };
  const chosen = typeof choice === "string" ? ` with the choice “${choice}”` : "";
  return `${who} ${approved ? "approved" : "rejected"} it${chosen}.`;
}
