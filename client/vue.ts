/** The composables of `supaswarm/vue`. */
import {
  computed,
  type ComputedRef,
  getCurrentInstance,
  type MaybeRefOrGetter,
  onMounted,
  onScopeDispose,
  shallowRef,
  toValue,
  watch,
} from "vue";
import type {
  JobState,
  JobView,
  Json,
  ReviewsState,
  ReviewsView,
  Swarm,
  ViewOptions,
} from "./mod.ts";

/** Each part of a state as a ref. */
type Refs<State> = { readonly [Name in keyof State]: ComputedRef<State[Name]> };

/** A job for a component: its state as refs, and what the user can do with it. */
export interface UseJob<Output = Json>
  extends
    Refs<JobState<Output>>,
    Pick<JobView<Output>, "respond" | "stop" | "continue" | "retry" | "detach" | "follow"> {
  readonly job: ComputedRef<JobView<Output>["job"]>;
}

/** The open reviews for a component as refs, and how to answer them. */
export interface UseReviews extends Refs<ReviewsState>, Pick<ReviewsView, "respond" | "refresh"> {}

/** What both kinds of view have. */
interface View<State> {
  readonly state: State;
  readonly initialState: State;
  subscribe(listener: () => void): () => void;
}

/**
 * Follows a job while the component is mounted, or until the effect scope ends.
 *
 * @param id Null for no job yet. Another id follows another job, and begins with an empty state.
 * @example
 * const { status, text, reviews, respond, stop } = useJob(swarm, id);
 */
export function useJob<Output = Json>(
  swarm: Pick<Swarm, "view">,
  id: MaybeRefOrGetter<string | null | undefined>,
  options: ViewOptions = {},
): UseJob<Output> {
  const view = computed(() => swarm.view<Output>(toValue(id) ?? null, options));
  return {
    ...useState(view, view.value.initialState),
    job: computed(() => view.value.job),
    respond: (...given) => view.value.respond(...given),
    stop: (...given) => view.value.stop(...given),
    continue: (...given) => view.value.continue(...given),
    retry: (...given) => view.value.retry(...given),
    detach: () => view.value.detach(),
    follow: () => view.value.follow(),
  };
}

/**
 * Follows the open reviews of all jobs of the user while the component is mounted, or until the
 * effect scope ends.
 *
 * @example
 * const { reviews, respond } = useReviews(swarm);
 */
export function useReviews(swarm: Pick<Swarm, "reviews">): UseReviews {
  const view = swarm.reviews.view();
  const { respond, refresh } = view;
  return { ...useState(computed(() => view), view.initialState), respond, refresh };
}

/** Follows the view, and the next one when it changes. */
function useState<State extends object>(
  view: ComputedRef<View<State>>,
  initial: State,
): Refs<State> {
  const state = shallowRef(initial);
  let leave: (() => void) | undefined;
  const start = () =>
    watch(view, (followed) => {
      leave?.();
      state.value = followed.state;
      leave = followed.subscribe(() => state.value = followed.state);
    }, { immediate: true });
  // On a server, nothing is mounted and nothing is followed.
  if (getCurrentInstance() === null) start();
  else onMounted(start);
  onScopeDispose(() => leave?.());
  const names = Object.keys(initial) as (keyof State)[];
  return Object.fromEntries(
    names.map((name) => [name, computed(() => state.value[name])]),
  ) as Refs<State>;
}
