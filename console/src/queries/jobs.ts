// deno-lint-ignore-file explicit-module-boundary-types -- a query has the type of its answer
import { useInfiniteQuery, useQuery } from "@tanstack/vue-query";
import { computed, type Ref } from "vue";
import type { Json } from "../../../shared/platform/db/database.types.ts";
import { projectClient } from "../project/project_client.ts";
import { dataOf } from "../project/request_error.ts";
import {
  idEnds,
  type JobFilters,
  localDayStart,
  metadataPairs,
  microUsdOf,
  type Whose,
} from "./job_filters.ts";
import { listPollMs } from "./user_events.ts";

/** The number of jobs per request. */
const PAGE_SIZE = 50;
/** No channel reports the jobs of all users. */
const ALL_JOBS_POLL_MS = 10_000;

/** The functions that list and count the jobs of one owner or of all. */
const FUNCTIONS = {
  own: { list: "list_jobs", counts: "job_counts" },
  all: { list: "operator_list_jobs", counts: "operator_job_counts" },
} as const;

/** A row of the list of jobs. */
export interface JobSummary {
  readonly id: string;
  /** Only in the list of all jobs; null for the service. */
  readonly owner_email?: string | null;
  readonly agent_slug: string | null;
  readonly status: string;
  readonly input_head: string | null;
  readonly metadata: unknown;
  readonly priority: string;
  readonly error: unknown;
  readonly task_count: number;
  readonly open_review_count: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost_micro_usd: number | null;
  readonly created_at: string;
  readonly started_at: string | null;
  readonly finished_at: string | null;
}

/** The end of a page. */
interface Cursor {
  readonly created_at: string;
  readonly id: string;
}

/** The matching jobs, newest first, page by page. */
export function useJobs(whose: Whose, filters: Ref<JobFilters>) {
  return useInfiniteQuery({
    queryKey: computed(() => ["jobs", "list", whose, filters.value]),
    queryFn: ({ pageParam }) => readJobs(whose, filters.value, PAGE_SIZE, pageParam),
    initialPageParam: null as Cursor | null,
    getNextPageParam: (page): Cursor | undefined => {
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE_SIZE) return undefined;
      return { created_at: last.created_at, id: last.id };
    },
    refetchInterval: whose === "own" ? listPollMs : ALL_JOBS_POLL_MS,
  });
}

/** The number of jobs by status, ignoring the status filter. */
export function useJobCounts(whose: Whose, filters: Ref<JobFilters>) {
  const others = computed<JobFilters>(() => ({ ...filters.value, status: [] }));
  return useQuery({
    queryKey: computed(() => ["jobs", "counts", whose, others.value]),
    queryFn: () => countJobs(whose, others.value),
    refetchInterval: whose === "own" ? listPollMs : ALL_JOBS_POLL_MS,
  });
}

async function countJobs(whose: Whose, filters: JobFilters): Promise<Record<string, number>> {
  const rows = dataOf(
    await projectClient().rpc(FUNCTIONS[whose].counts, { p_filters: requestOf(filters) }),
  );
  return Object.fromEntries(rows.map(({ status, job_count: count }) => [status, count]));
}

/** A page of the matching jobs, newest first. @throws RequestError */
export async function readJobs(
  whose: Whose,
  filters: JobFilters,
  limit: number,
  before: Cursor | null = null,
): Promise<JobSummary[]> {
  // In the generated type of all jobs every column is nullable.
  return dataOf(
    await projectClient().rpc(FUNCTIONS[whose].list, {
      p_filters: requestOf(filters),
      p_limit: limit,
      ...(before === null ? {} : { p_before: { ...before } }),
    }),
  ) as JobSummary[];
}

/** The maximum number of jobs in one action; it is the longest page of `list_jobs`. */
export const BATCH_LIMIT = 1_000;

/** The newest jobs in any of these statuses that match the filters, at most `BATCH_LIMIT`. */
export async function readMatchingJobs(
  whose: Whose,
  filters: JobFilters,
  statuses: readonly string[],
): Promise<JobSummary[]> {
  const wanted = statuses.filter((status) =>
    filters.status.length === 0 || filters.status.includes(status)
  );
  if (wanted.length === 0) return [];
  return await readJobs(whose, { ...filters, status: wanted }, BATCH_LIMIT);
}

/** The filters in the form of `list_jobs`, `operator_list_jobs` and the functions that count. */
export function requestOf(filters: JobFilters): Record<string, Json> {
  const metadata = metadataPairs(filters.metadata);
  const { prefix, suffix } = idEnds(filters.id);
  return {
    ...(filters.status.length === 0 ? {} : { status: [...filters.status] }),
    ...(filters.agent === "" ? {} : { agent: filters.agent }),
    ...(filters.owner === "" ? {} : { owner: filters.owner }),
    ...(filters.errorCode === "" ? {} : { error_code: filters.errorCode }),
    ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
    ...(prefix === "" ? {} : { id_prefix: prefix }),
    ...(suffix === "" ? {} : { id_suffix: suffix }),
    ...(filters.from === "" ? {} : { created_from: localDayStart(filters.from) }),
    ...(filters.to === "" ? {} : { created_to: localDayStart(filters.to, 1) }),
    ...(filters.minCost === "" ? {} : { min_cost_micro_usd: microUsdOf(filters.minCost) }),
    ...(filters.maxCost === "" ? {} : { max_cost_micro_usd: microUsdOf(filters.maxCost) }),
  };
}
