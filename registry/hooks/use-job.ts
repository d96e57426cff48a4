import { swarm } from "@/lib/swarm";
import {
  type UseJob,
  useJob as useJobOf,
  type UseReviews,
  useReviews as useReviewsOf,
} from "supaswarm/react";

/** Follows a job of this project while the component is mounted. */
export function useJob<Output = unknown>(id: string | null): UseJob<Output> {
  return useJobOf<Output>(swarm, id);
}

/** Follows the open reviews of all jobs of the user. */
export function useReviews(): UseReviews {
  return useReviewsOf(swarm);
}
