import type { JobChannels, JobListener } from "./job_channels.ts";
import type { JobStatus, TaskError } from "./job_event.ts";
import type { Json, JsonObject } from "./json.ts";
import { callRpc, type RequestOptions, signedInUserId, type SupabaseLike } from "./supabase.ts";

/** Which jobs to list; docs/reference/http.md describes the filters. */
export interface JobFilters {
  readonly status?: JobStatus | readonly JobStatus[];
  readonly agent?: string | readonly string[];
  readonly errorCode?: string | readonly string[];
  readonly metadata?: JsonObject;
  readonly createdFrom?: string;
  readonly createdTo?: string;
  readonly idPrefix?: string;
  readonly idSuffix?: string;
  readonly minCostMicroUsd?: number;
  readonly maxCostMicroUsd?: number;
}

/** A page of jobs. */
export interface JobListOptions extends JobFilters, RequestOptions {
  /** The last job of the page before. */
  readonly before?: { readonly id: string; readonly created_at: string } | null;
  /** @default 50 */
  readonly limit?: number;
}

/** A job in a list; the sums cover its subtasks. */
export interface JobSummary {
  readonly id: string;
  readonly agent_slug: string;
  readonly status: JobStatus;
  readonly input_head: string | null;
  readonly metadata: Json;
  readonly priority: string;
  readonly budget: Json;
  readonly error: TaskError | null;
  readonly task_count: number;
  readonly open_review_count: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost_micro_usd: number | null;
  readonly run_after: string | null;
  readonly cancel_requested_at: string | null;
  readonly created_at: string;
  readonly started_at: string | null;
  readonly finished_at: string | null;
}

/** How many jobs have each status. */
export type JobCounts = Readonly<Partial<Record<JobStatus, number>>>;

/** The user's jobs. */
export class Jobs {
  readonly #supabase: SupabaseLike;
  readonly #channels: JobChannels;

  constructor(supabase: SupabaseLike, channels: JobChannels) {
    this.#supabase = supabase;
    this.#channels = channels;
  }

  /** The newest jobs first. @throws SwarmClientError */
  async list(
    { before = null, limit = 50, signal, ...filters }: JobListOptions = {},
  ): Promise<JobSummary[]> {
    return await callRpc<JobSummary[]>(this.#supabase, "list_jobs", {
      p_filters: snakeCased(filters),
      p_before: before,
      p_limit: limit,
    }, { signal });
  }

  /** The number of jobs by status. @throws SwarmClientError */
  async count({ signal, ...filters }: JobFilters & RequestOptions = {}): Promise<JobCounts> {
    const rows = await callRpc<{ status: JobStatus; job_count: number }[]>(
      this.#supabase,
      "job_counts",
      { p_filters: snakeCased(filters) },
      { signal },
    );
    return Object.fromEntries(rows.map(({ status, job_count: count }) => [status, count]));
  }

  /**
   * Learns of changes of the user's jobs and reviews until the returned function is called. Messages
   * may be lost, so a page also reads its list again from time to time.
   */
  listen(listener: JobListener): () => void {
    let hasEnded = false;
    let leave = () => {};
    void signedInUserId(this.#supabase).then((userId) => {
      if (userId !== null && !hasEnded) leave = this.#channels.listenToUser(userId, listener);
    }, () => {});
    return () => {
      hasEnded = true;
      leave();
    };
  }
}

/** An object with its keys as the platform has them: `runAfter` becomes `run_after`. */
export function snakeCased(options: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(options).map(([key, value]) => [
      key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value,
    ]),
  );
}
