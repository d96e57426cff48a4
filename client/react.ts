/** The hooks of `supaswarm/react`. */
import { useMemo, useSyncExternalStore } from "react";
import type {
  JobState,
  JobView,
  Json,
  ReviewsState,
  ReviewsView,
  Swarm,
  ViewOptions,
} from "./mod.ts";

/** A job for a component: its state, and what the user can do with it. */
export interface UseJob<Output = Json> extends
  JobState<Output>,
  Pick<
    JobView<Output>,
    "job" | "respond" | "stop" | "continue" | "retry" | "detach" | "follow"
  > {}

/** The open reviews for a component, and how to answer them. */
export interface UseReviews extends ReviewsState, Pick<ReviewsView, "respond" | "refresh"> {}

/**
 * Follows a job while the component is mounted.
 *
 * @param id Null for no job yet. Another id follows another job, and begins with an empty state.
 * @example
 * const { status, text, reviews, respond, stop } = useJob(swarm, id);
 */
export function useJob<Output = Json>(
  swarm: Pick<Swarm, "view">,
  id: string | null | undefined,
  { text }: ViewOptions = {},
): UseJob<Output> {
  const view = useMemo(
    () => swarm.view<Output>(id ?? null, text === undefined ? {} : { text }),
    [swarm, id, text],
  );
  const state = useSyncExternalStore(
    view.subscribe,
    () => view.state,
    () => view.initialState,
  );
  return useMemo(() => {
    const { job, respond, stop, retry, detach, follow } = view;
    return { ...state, job, respond, stop, continue: view.continue, retry, detach, follow };
  }, [view, state]);
}

/**
 * Follows the open reviews of all jobs of the user while the component is mounted.
 *
 * @example
 * const { reviews, respond } = useReviews(swarm);
 */
export function useReviews(swarm: Pick<Swarm, "reviews">): UseReviews {
  const view = useMemo(() => swarm.reviews.view(), [swarm]);
  const state = useSyncExternalStore(
    view.subscribe,
    () => view.state,
    () => view.initialState,
  );
  return useMemo(() => {
    const { respond, refresh } = view;
    return { ...state, respond, refresh };
  }, [view, state]);
}
