"use client";

import { ReviewCard } from "@/components/review-card";
import type { ReactNode } from "react";
import type { Swarm } from "supaswarm/client";
import { useReviews } from "supaswarm/react";

export interface ReviewInboxProps {
  /** `createSwarm(supabase)`, with a signed-in user. */
  readonly swarm: Pick<Swarm, "reviews">;
}

/** The open reviews of all jobs of the user, oldest first. It changes by itself. */
export function ReviewInbox({ swarm }: ReviewInboxProps): ReactNode {
  const { reviews, isLoading, error, respond, refresh } = useReviews(swarm);
  return (
    <section aria-label="Reviews" className="flex flex-col gap-3">
      <p role="status" className="text-sm text-muted-foreground">
        {isLoading ? "Loading reviews…" : countText(reviews.length)}
      </p>
      {error !== null && (
        <p role="alert" className="text-sm text-destructive">
          {error.message}{" "}
          <button type="button" onClick={refresh} className="underline">Try again</button>
        </p>
      )}
      <ul className="flex flex-col gap-3">
        {reviews.map((review) => (
          <li key={`${review.task_id}:${review.seq}`}>
            <ReviewCard review={review} onRespond={respond} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function countText(count: number): string {
  if (count === 0) return "No reviews are waiting.";
  return count === 1 ? "1 review is waiting." : `${count} reviews are waiting.`;
}
