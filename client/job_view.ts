import type { Job, UpdateOptions } from "./job.ts";
import type { JobEvent, JobStatus } from "./job_event.ts";
import { jobError } from "./job_error.ts";
import type { Json, JsonObject } from "./json.ts";
import { LiveState } from "./live_state.ts";
import type { OpenReview, ReviewAnswer, ReviewedTask } from "./reviews.ts";
import type { RequestOptions } from "./supabase.ts";
import { SwarmClientError } from "./swarm_client_error.ts";

/** What a view follows. */
export type ViewOptions = Pick<UpdateOptions, "text">;

/** What a page shows of a job. Each change is a new object. */
export interface JobState<Output = Json> {
  /** Null without a job, and until its first event has been read. */
  readonly status: JobStatus | null;
  /** The events of the job and its subtasks so far. */
  readonly events: readonly JobEvent[];
  /** The newest answer of the job's model, also while it is being written. */
  readonly text: string;
  /** The step of `text`; `model.completed` of this step has the same text, or the rest of it. */
  readonly textStep: number | null;
  /** The open reviews of the job and its subtasks. */
  readonly reviews: readonly OpenReview[];
  /** The output; it is there as soon as `status` is `completed`. */
  readonly result: Output | undefined;
  /** Why the job failed or was cancelled, or why it cannot be followed. */
  readonly error: SwarmClientError | null;
  /** False before the first read, after the job's end and after `detach()`. */
  readonly isFollowing: boolean;
}

const NOTHING: JobState<never> = {
  status: null,
  events: [],
  text: "",
  textStep: null,
  reviews: [],
  result: undefined,
  error: null,
  isFollowing: false,
};

/**
 * A job as a state for pages: the base of `useJob` for React and Vue, and of any other binding. It
 * is followed while somebody subscribes.
 *
 * @example
 * const view = swarm.view(id);
 * const leave = view.subscribe(() => page.textContent = view.state.text);
 */
export class JobView<Output = Json> {
  /** The handle, for everything that a view has not; null without a job. */
  readonly job: Job<Output> | null;
  readonly #options: ViewOptions;
  readonly #live: LiveState<JobState<Output>>;
  readonly #events: JobEvent[] = [];
  #cursor: string | null = null;

  constructor(job: Job<Output> | null, options: ViewOptions = {}) {
    this.job = job;
    this.#options = options;
    this.#live = new LiveState<JobState<Output>>({
      initial: NOTHING,
      follow: (signal) => this.#follow(signal),
      // One copy for all events that arrive together.
      show: (state) =>
        state.events.length === this.#events.length
          ? state
          : { ...state, events: [...this.#events] },
    });
  }

  get state(): JobState<Output> {
    return this.#live.shown;
  }

  /** The state of a page before its first effect, and on a server. */
  get initialState(): JobState<Output> {
    return NOTHING;
  }

  /** Calls the listener after each change, until the returned function is called. */
  readonly subscribe = (listener: () => void): () => void => this.#live.subscribe(listener);

  /** Answers an open review. @throws SwarmClientError */
  readonly respond = async (
    task: ReviewedTask,
    answer: ReviewAnswer,
    options: RequestOptions = {},
  ): Promise<JobStatus> => await this.#theJob("answer a review").respond(task, answer, options);

  /** Cancels the job and its subtasks. @throws SwarmClientError */
  readonly stop = async (options: RequestOptions = {}): Promise<number> =>
    await this.#theJob("stop").cancel(options);

  /** Adds a message of the user to the ended job, and follows it again. @throws SwarmClientError */
  readonly continue = async (
    input: string | JsonObject,
    options: RequestOptions = {},
  ): Promise<void> => {
    await this.#theJob("continue").continue(input, options);
    this.#live.followAgain();
  };

  /** Continues a failed or cancelled job, and follows it again. @throws SwarmClientError */
  readonly retry = async (options: RequestOptions = {}): Promise<void> => {
    await this.#theJob("retry").retry(options);
    this.#live.followAgain();
  };

  /** Stops following; the job goes on. */
  readonly detach = (): void => {
    this.#live.detach();
    this.#live.set({ isFollowing: false });
  };

  /** Follows again after {@linkcode detach}. */
  readonly follow = (): void => this.#live.followAgain();

  async #follow(signal: AbortSignal): Promise<void> {
    if (this.job === null) return;
    this.#live.set({ isFollowing: true });
    const updates = this.job.updates({ ...this.#options, after: this.#cursor, signal });
    try {
      for await (const update of updates) {
        if (signal.aborted) return;
        if (update.kind === "text") {
          this.#live.set({ text: update.part.text, textStep: update.part.step });
          continue;
        }
        const { event, cursor, output } = update;
        this.#cursor = cursor;
        this.#events.push(event);
        this.#live.set({
          reviews: openAfter(this.#live.next.reviews, this.#events),
          ...event.task_id === this.job.id && changeBy(event, output as Output),
        });
      }
      if (!signal.aborted) this.#live.set({ isFollowing: false });
    } catch (error) {
      if (signal.aborted) return;
      this.#live.set({ isFollowing: false, error: error as SwarmClientError });
    }
  }

  #theJob(action: string): Job<Output> {
    if (this.job !== null) return this.job;
    throw new SwarmClientError({
      code: "NO_JOB",
      message: `Cannot ${action}: this view has no job`,
      hint: "Start one with swarm.run(), and pass its id.",
    });
  }
}

/** What an event of the job itself changes. */
function changeBy<Output>(event: JobEvent, output: Output): Partial<JobState<Output>> {
  const status = statusAfter(event);
  if (status === undefined) return {};
  const hasFailed = event.type === "task.failed" || event.type === "task.cancelled";
  return {
    status,
    result: event.type === "task.completed" ? output : undefined,
    error: hasFailed ? jobError(event.task_id, { status, error: event.data.error }) : null,
  };
}

function statusAfter(event: JobEvent): JobStatus | undefined {
  switch (event.type) {
    case "task.created":
    case "task.retried":
    case "review.answered":
      return "pending";
    case "task.started":
      return "running";
    case "task.resumed":
      return event.data.reason === "continued" ? "pending" : "running";
    case "task.parked":
      return event.data.status;
    case "task.completed":
      return "completed";
    case "task.failed":
      return "failed";
    case "task.cancelled":
      return "cancelled";
    default:
      return undefined;
  }
}

/** The open reviews after the last of these events. */
function openAfter(
  open: readonly OpenReview[],
  events: readonly JobEvent[],
): readonly OpenReview[] {
  const event = events.at(-1);
  if (event === undefined) return open;
  const others = open.filter(({ task_id }) => task_id !== event.task_id);
  switch (event.type) {
    case "review.requested":
      return [...others, reviewOf(event)];
    case "review.answered":
    case "task.completed":
    case "task.failed":
    case "task.cancelled":
      return others.length === open.length ? open : others;
    case "task.parked": {
      if (event.data.status !== "needs_human_review" || others.length < open.length) return open;
      // The task was retried, which opens the review again that its end had closed.
      const requests = events.flatMap((earlier) =>
        earlier.type === "review.requested" && earlier.task_id === event.task_id ? [earlier] : []
      );
      return [...open, ...requests.slice(-1).map(reviewOf)];
    }
    default:
      return open;
  }
}

function reviewOf({ task_id, at, data }: JobEvent & { type: "review.requested" }): OpenReview {
  const { step_seq: seq, kind = "question", question, options = null, context = null } = data;
  return { task_id, seq, kind, question, options, context, created_at: at };
}
