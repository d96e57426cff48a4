// deno-lint-ignore-file explicit-module-boundary-types -- a query has the type of its answer
import { useInfiniteQuery, useQuery } from "@tanstack/vue-query";
import { computed, type Ref } from "vue";
import { snakeCased } from "../../../client/jobs.ts";
import type {
  JobCounts,
  JobFilters as RequestedJobs,
  JobStatus,
  JobSummary as OwnJob,
  JsonObject,
} from "../../../client/mod.ts";
import { projectClient, projectSwarm } from "../project/project_client.ts";
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
const MINUTE_MS = 60_000;
/** The least id: no job created at a moment comes before it. */
const FIRST_ID = "00000000-0000-0000-0000-000000000000";
/** No channel reports the jobs of all users. */
const ALL_JOBS_POLL_MS = 10_000;

/** A row of the list of jobs. */
export interface JobSummary extends OwnJob {
  /** Only in the list of all jobs; null for the service. */
  readonly owner_email?: string | null;
}

/** The end of a page. */
interface Cursor {
  readonly created_at: string;
  readonly id: string;
}

interface Page {
  readonly before?: Cursor | null;
  readonly limit?: number;
  readonly signal?: AbortSignal;
}

/**
 * The matching jobs, newest first, page by page.
 *
 * @param until a local time, such as `2026-11-27T10:30`, at which the list begins; empty for now.
 */
export function useJobs(whose: Whose, filters: Ref<JobFilters>, until: Ref<string>) {
  return useInfiniteQuery({
    queryKey: computed(() => ["jobs", "list", whose, filters.value, until.value]),
    queryFn: ({ pageParam, signal }) =>
      readJobs(whose, filters.value, { before: pageParam ?? cursorAt(until.value), signal }),
    initialPageParam: null as Cursor | null,
    getNextPageParam: (page): Cursor | undefined => {
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE_SIZE) return undefined;
      return { created_at: last.created_at, id: last.id };
    },
    refetchInterval: whose === "own" ? listPollMs : ALL_JOBS_POLL_MS,
  });
}

/** Where a list begins that shows the jobs until the end of a minute. */
function cursorAt(minute: string): Cursor | null {
  if (minute === "") return null;
  const end = new Date(Date.parse(minute) + MINUTE_MS);
  return { created_at: end.toISOString(), id: FIRST_ID };
}

/** The number of jobs by status, ignoring the status filter. */
export function useJobCounts(whose: Whose, filters: Ref<JobFilters>) {
  const others = computed<JobFilters>(() => ({ ...filters.value, status: [] }));
  return useQuery({
    queryKey: computed(() => ["jobs", "counts", whose, others.value]),
    queryFn: ({ signal }) => countJobs(whose, others.value, signal),
    refetchInterval: whose === "own" ? listPollMs : ALL_JOBS_POLL_MS,
  });
}

async function countJobs(
  whose: Whose,
  filters: JobFilters,
  signal: AbortSignal,
): Promise<JobCounts> {
  const wanted = requestOf(filters);
  if (whose === "own") return await projectSwarm().jobs.count({ ...wanted, signal });
  const rows = dataOf(
    await projectClient().rpc("operator_job_counts", { p_filters: filtersOfAll(filters) })
      .abortSignal(signal),
  );
  return Object.fromEntries(rows.map(({ status, job_count: count }) => [status, count]));
}

/** A page of the matching jobs, newest first. @throws RequestError */
export async function readJobs(
  whose: Whose,
  filters: JobFilters,
  { before = null, limit = PAGE_SIZE, signal }: Page = {},
): Promise<JobSummary[]> {
  if (whose === "own") {
    return await projectSwarm().jobs.list({ ...requestOf(filters), before, limit, signal });
  }
  const request = projectClient().rpc("operator_list_jobs", {
    p_filters: filtersOfAll(filters),
    p_limit: limit,
    ...(before === null ? {} : { p_before: { ...before } }),
  });
  // In the generated type of all jobs every column is nullable.
  return dataOf(await (signal ? request.abortSignal(signal) : request)) as unknown as JobSummary[];
}

function filtersOfAll(filters: JobFilters): JsonObject {
  return {
    ...snakeCased(requestOf(filters)) as JsonObject,
    ...(filters.owner === "" ? {} : { owner: filters.owner }),
    ...(filters.cause === "" ? {} : { cause: filters.cause }),
  };
}

/** The longest page of `list_jobs`. */
const LONGEST_PAGE = 1_000;

/** The ids of the jobs in any of these statuses that match the filters, newest first, by page. */
export async function* matchingJobs(
  whose: Whose,
  filters: JobFilters,
  statuses: readonly JobStatus[],
): AsyncGenerator<readonly string[]> {
  const status = statuses.filter((one) =>
    filters.status.length === 0 || filters.status.includes(one)
  );
  if (status.length === 0) return;
  let before: Cursor | null = null;
  while (true) {
    const page: JobSummary[] = await readJobs(whose, { ...filters, status }, {
      before,
      limit: LONGEST_PAGE,
    });
    const last = page.at(-1);
    // A project may answer with fewer rows than requested, so only an empty page is the end.
    if (last === undefined) return;
    yield page.map(({ id }) => id);
    before = { created_at: last.created_at, id: last.id };
  }
}

/** The filters in the form of the client. The platform refuses a status that it does not have. */
export function requestOf(filters: JobFilters): RequestedJobs {
  const metadata = metadataPairs(filters.metadata);
  const { prefix, suffix } = idEnds(filters.id);
  return {
    ...(filters.status.length === 0 ? {} : { status: filters.status as JobStatus[] }),
    ...(filters.agent === "" ? {} : { agent: filters.agent }),
    ...(filters.errorCode === "" ? {} : { errorCode: filters.errorCode }),
    ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
    ...(prefix === "" ? {} : { idPrefix: prefix }),
    ...(suffix === "" ? {} : { idSuffix: suffix }),
    ...(filters.from === "" ? {} : { createdFrom: localDayStart(filters.from) }),
    ...(filters.to === "" ? {} : { createdTo: localDayStart(filters.to, 1) }),
    ...(filters.minCost === "" ? {} : { minCostMicroUsd: microUsdOf(filters.minCost) }),
    ...(filters.maxCost === "" ? {} : { maxCostMicroUsd: microUsdOf(filters.maxCost) }),
  };
}
