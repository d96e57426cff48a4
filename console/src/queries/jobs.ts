// deno-lint-ignore-file explicit-module-boundary-types -- a query has the type of its answer
import { useInfiniteQuery, useQuery } from "@tanstack/vue-query";
import { computed, type Ref } from "vue";
import type { JobFilters as RequestedJobs, JobStatus, JobSummary } from "../../../client/mod.ts";
import { projectSwarm } from "../project/project_client.ts";
import {
  idEnds,
  type JobFilters,
  localDayStart,
  metadataPairs,
  microUsdOf,
} from "./job_filters.ts";
import { listPollMs } from "./user_events.ts";

/** The number of jobs per request. */
const PAGE_SIZE = 50;

/** The end of a page. */
interface Cursor {
  readonly created_at: string;
  readonly id: string;
}

/** The matching jobs, newest first, page by page. */
export function useJobs(filters: Ref<JobFilters>) {
  return useInfiniteQuery({
    queryKey: computed(() => ["jobs", "list", filters.value]),
    queryFn: ({ pageParam: before, signal }) =>
      projectSwarm().jobs.list({ ...requestOf(filters.value), before, limit: PAGE_SIZE, signal }),
    initialPageParam: null as Cursor | null,
    getNextPageParam: (page): Cursor | undefined => {
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE_SIZE) return undefined;
      return { created_at: last.created_at, id: last.id };
    },
    refetchInterval: listPollMs,
  });
}

/** The number of jobs by status, ignoring the status filter. */
export function useJobCounts(filters: Ref<JobFilters>) {
  const others = computed<JobFilters>(() => ({ ...filters.value, status: [] }));
  return useQuery({
    queryKey: computed(() => ["jobs", "counts", others.value]),
    queryFn: ({ signal }) => projectSwarm().jobs.count({ ...requestOf(others.value), signal }),
    refetchInterval: listPollMs,
  });
}

/** The maximum number of jobs in one action; it is the longest page of `list_jobs`. */
export const BATCH_LIMIT = 1_000;

/** The newest jobs in any of these statuses that match the filters, at most `BATCH_LIMIT`. */
export async function readMatchingJobs(
  filters: JobFilters,
  statuses: readonly JobStatus[],
): Promise<JobSummary[]> {
  const wanted = statuses.filter((status) =>
    filters.status.length === 0 || filters.status.includes(status)
  );
  if (wanted.length === 0) return [];
  return await projectSwarm().jobs.list({
    ...requestOf({ ...filters, status: wanted }),
    limit: BATCH_LIMIT,
  });
}

/** The filters in the form of the client. The platform refuses a status that it does not have. */
export function requestOf(filters: JobFilters): RequestedJobs {
  const metadata = metadataPairs(filters.metadata);
  const { prefix, suffix } = idEnds(filters.id);
  return {
    ...(filters.status.length === 0 ? {} : { status: filters.status as JobStatus[] }),
    ...(filters.agent === "" ? {} : { agent: filters.agent }),
    ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
    ...(prefix === "" ? {} : { idPrefix: prefix }),
    ...(suffix === "" ? {} : { idSuffix: suffix }),
    ...(filters.from === "" ? {} : { createdFrom: localDayStart(filters.from) }),
    ...(filters.to === "" ? {} : { createdTo: localDayStart(filters.to, 1) }),
    ...(filters.minCost === "" ? {} : { minCostMicroUsd: microUsdOf(filters.minCost) }),
    ...(filters.maxCost === "" ? {} : { maxCostMicroUsd: microUsdOf(filters.maxCost) }),
  };
}
