import { LiveState } from "./live_state.ts";
import type { JobStatus } from "./job_event.ts";
import type { OpenReview, ReviewAnswer, ReviewedTask, Reviews } from "./reviews.ts";
import type { RequestOptions } from "./supabase.ts";
import type { SwarmClientError } from "./swarm_client_error.ts";

/** What an inbox shows. Each change is a new object. */
export interface ReviewsState {
  /** The open reviews of all jobs, oldest first. */
  readonly reviews: readonly OpenReview[];
  /** True until they have been read. */
  readonly isLoading: boolean;
  /** Why they cannot be read. */
  readonly error: SwarmClientError | null;
}

const NOTHING: ReviewsState = { reviews: [], isLoading: true, error: null };

/** The open reviews as a state for pages, which is followed while somebody subscribes. */
export class ReviewsView {
  readonly #reviews: Reviews;
  readonly #live: LiveState<ReviewsState>;

  constructor(reviews: Reviews) {
    this.#reviews = reviews;
    this.#live = new LiveState({ initial: NOTHING, follow: (signal) => this.#follow(signal) });
  }

  get state(): ReviewsState {
    return this.#live.shown;
  }

  /** The state of a page before its first effect, and on a server. */
  get initialState(): ReviewsState {
    return NOTHING;
  }

  /** Calls the listener after each change, until the returned function is called. */
  readonly subscribe = (listener: () => void): () => void => this.#live.subscribe(listener);

  /** Answers a review, which leaves the list. @throws SwarmClientError */
  readonly respond = async (
    task: ReviewedTask,
    answer: ReviewAnswer,
    options: RequestOptions = {},
  ): Promise<JobStatus> => {
    const status = await this.#reviews.respond(task, answer, options);
    const taskId = typeof task === "string" ? task : task.task_id;
    const { reviews } = this.#live.next;
    this.#live.set({ reviews: reviews.filter(({ task_id }) => task_id !== taskId) });
    return status;
  };

  /** Reads the list again, for example after an error or when another user has signed in. */
  readonly refresh = (): void => {
    this.#live.detach();
    this.#live.followAgain();
  };

  async #follow(signal: AbortSignal): Promise<void> {
    try {
      for await (const reviews of this.#reviews.watch({ signal })) {
        if (signal.aborted) return;
        this.#live.set({ reviews, isLoading: false, error: null });
      }
    } catch (error) {
      if (!signal.aborted) {
        this.#live.set({ isLoading: false, error: error as SwarmClientError });
      }
    }
  }
}
