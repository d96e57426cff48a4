import type { QueryClient } from "@tanstack/vue-query";
import type { JobMessage } from "../../../client/mod.ts";

/** The lists that change with the user's jobs; each is the first part of its queries' keys. */
export type ChangingList = "jobs" | "reviews";

/** Statuses of a job whose beginning neither opens nor closes a question. */
const STATUSES_WITHOUT_REVIEW: readonly unknown[] = ["pending", "running", "completed"];

/** The lists that a message of the user's channel may have changed. */
export function changedLists({ event, payload }: JobMessage): readonly ChangingList[] {
  const isReviewKept = event === "job.changed" &&
    STATUSES_WITHOUT_REVIEW.includes(payload.data["status"]);
  return isReviewKept ? ["jobs"] : ["jobs", "reviews"];
}

/**
 * Returns a function that reads a list again. It does not cancel a read that runs: while events
 * keep arriving none would end, and neither would that of older jobs. Such a read may lack the
 * latest change, so another one follows.
 */
export function createListRefresh(queries: QueryClient, list: ChangingList): () => Promise<void> {
  const queryKey = [list];
  const read = () => queries.invalidateQueries({ queryKey }, { cancelRefetch: false });
  let isReading = false;
  let isOutdated = false;
  return async () => {
    isOutdated = true;
    if (isReading) return;
    isReading = true;
    while (isOutdated) {
      if (queries.isFetching({ queryKey, type: "active" }) > 0) await read();
      isOutdated = false;
      await read();
    }
    isReading = false;
  };
}
