import type { JobStatus, ReviewKind } from "./job_event.ts";
import type { Json, JsonObject } from "./json.ts";
import { untilAnswered } from "./event_reader.ts";
import type { JobChannels } from "./job_channels.ts";
import {
  callRpc,
  readRows,
  type RequestOptions,
  signedInUserId,
  type SupabaseLike,
} from "./supabase.ts";
import { ReviewsView } from "./reviews_view.ts";
import { ChangeSignal, pause } from "./waiting.ts";

/** A person's answer to a review. */
export interface ReviewAnswer {
  readonly approved: boolean;
  /** One of the review's options; required to approve a review that has options. */
  readonly choice?: Json;
  /** For a review about a call: the arguments that it is made with instead. */
  readonly arguments?: JsonObject;
  readonly comments?: string;
  /** Other data for the agent. */
  readonly response?: JsonObject;
  /** The agent reads the answer only after this time, until which `reopen()` takes it back. @default 0 */
  readonly holdSeconds?: number;
}

/**
 * The task whose review is answered. An event or a row also names the review, so that a question that
 * was asked since is not answered with it.
 */
export type ReviewedTask = string | {
  readonly task_id: string;
  readonly seq?: number;
  readonly data?: { readonly step_seq?: number };
};

/** A question to a person that is open. */
export interface OpenReview {
  readonly task_id: string;
  readonly seq: number;
  readonly kind: ReviewKind;
  readonly question: string;
  readonly options: readonly Json[] | null;
  readonly context: Json;
  readonly created_at: string;
}

const POLL_MS = 5_000;
/** With a joined channel, polling only repairs the loss of a message. */
const JOINED_POLL_MS = 60_000;
/** Changes within this time cause one request. */
const GATHER_MS = 100;

/** The reviews of the user's jobs. */
export class Reviews {
  readonly #supabase: SupabaseLike;
  readonly #channels: JobChannels;

  constructor(supabase: SupabaseLike, channels: JobChannels) {
    this.#supabase = supabase;
    this.#channels = channels;
  }

  /** The open reviews of all jobs, oldest first. @throws SwarmClientError */
  async list(options: RequestOptions = {}): Promise<OpenReview[]> {
    return await readRows<OpenReview>(
      this.#supabase,
      "human_reviews",
      (reviews) =>
        reviews.select("task_id,seq,kind,question,options,context,created_at")
          .is("answered_at", null).order("created_at"),
      options,
    );
  }

  /**
   * The open reviews now, and again after each change, until the loop is left.
   *
   * @throws SwarmClientError for what does not pass by itself; the signal's reason
   */
  async *watch({ signal }: RequestOptions = {}): AsyncGenerator<OpenReview[], void, undefined> {
    const change = new ChangeSignal();
    let isJoined = false;
    const userId = await signedInUserId(this.#supabase);
    const leave = userId === null ? undefined : this.#channels.listenToUser(userId, {
      onMessage: ({ event }) => event.startsWith("review.") && change.notify(),
      onJoined: (joins) => {
        isJoined = joins;
        change.notify();
      },
    });
    let shown: string | undefined;
    try {
      for (;;) {
        const reviews = await untilAnswered(() => this.list({ signal }), signal);
        const text = JSON.stringify(reviews);
        if (text !== shown) yield reviews;
        shown = text;
        await change.wait(isJoined ? JOINED_POLL_MS : POLL_MS, signal);
        await pause(GATHER_MS, signal);
      }
    } finally {
      leave?.();
    }
  }

  /** The open reviews as a state for pages, such as `useReviews`. */
  view(): ReviewsView {
    return new ReviewsView(this);
  }

  /** Answers the open review of a task. @throws SwarmClientError */
  async respond(
    task: ReviewedTask,
    answer: ReviewAnswer,
    options: RequestOptions = {},
  ): Promise<JobStatus> {
    return await answerReview(this.#supabase, { task, answer, ...options });
  }

  /**
   * Takes back the last answer to a task's review, as long as the agent has not read it: the review is
   * open again.
   *
   * @throws SwarmClientError such as `REVIEW_NOT_REOPENABLE`
   */
  async reopen(task: ReviewedTask, options: RequestOptions = {}): Promise<JobStatus> {
    return await callRpc<JobStatus>(
      this.#supabase,
      "reopen_review",
      { p_task_id: idOf(task) },
      options,
    );
  }
}

function idOf(task: ReviewedTask): string {
  return typeof task === "string" ? task : task.task_id;
}

/** Answers the open review of a task, and returns the task's status. @throws SwarmClientError */
export async function answerReview(
  supabase: SupabaseLike,
  { task, answer, signal }: RequestOptions & {
    readonly task: ReviewedTask;
    readonly answer: ReviewAnswer;
  },
): Promise<JobStatus> {
  const { approved, comments, response, holdSeconds, ...more } = answer;
  const seq = typeof task === "string" ? undefined : task.seq ?? task.data?.step_seq;
  return await callRpc<JobStatus>(supabase, "respond_to_review", {
    p_task_id: idOf(task),
    p_approved: approved,
    p_response: { ...response, ...more },
    ...comments !== undefined && { p_comments: comments },
    ...holdSeconds !== undefined && { p_hold_seconds: holdSeconds },
    ...seq !== undefined && { p_seq: seq },
  }, { signal });
}
