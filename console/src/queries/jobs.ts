// deno-lint-ignore-file explicit-module-boundary-types -- a query has the type of its answer
import { useInfiniteQuery, useQuery } from "@tanstack/vue-query";
import { computed, type Ref } from "vue";
import { projectClient } from "../project/project_client.ts";
import { dataOf } from "../project/request_error.ts";
import { type JobFilters, localDayStart, metadataPair } from "./job_filters.ts";
import { listPollMs } from "./user_events.ts";

/** Jobs of one request. */
const PAGE_SIZE = 50;

/** A line of the list of jobs. */
export interface JobSummary {
  readonly id: string;
  readonly agent_slug: string | null;
  readonly status: string;
  readonly input_head: string | null;
  readonly metadata: unknown;
  readonly priority: string;
  readonly error: unknown;
  readonly task_count: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost_micro_usd: number | null;
  readonly created_at: string;
  readonly started_at: string | null;
  readonly finished_at: string | null;
}

/** Where a page ended. */
interface Cursor {
  readonly created_at: string;
  readonly id: string;
}

/** The jobs that fit, newest first, page by page. */
export function useJobs(filters: Ref<JobFilters>) {
  return useInfiniteQuery({
    queryKey: computed(() => ["jobs", "list", filters.value]),
    queryFn: ({ pageParam }) => readJobs(filters.value, pageParam),
    initialPageParam: null as Cursor | null,
    getNextPageParam: (page): Cursor | undefined => {
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE_SIZE) return undefined;
      return { created_at: last.created_at, id: last.id };
    },
    refetchInterval: listPollMs,
  });
}

/** How many jobs there are of each status, whatever status is filtered for. */
export function useJobCounts(filters: Ref<JobFilters>) {
  const others = computed<JobFilters>(() => ({ ...filters.value, status: [] }));
  return useQuery({
    queryKey: computed(() => ["jobs", "counts", others.value]),
    queryFn: () => countJobs(others.value),
    refetchInterval: listPollMs,
  });
}

const COUNTED = [
  "pending",
  "running",
  "pending_subtask",
  "needs_human_review",
  "completed",
  "failed",
  "cancelled",
] as const;

async function countJobs(filters: JobFilters): Promise<Record<string, number>> {
  const counts = await Promise.all(COUNTED.map(async (status) => {
    const request = projectClient().from("tasks").select("id", { count: "exact", head: true });
    const answer = await limited(request, { ...filters, status: [status] });
    dataOf({ ...answer, data: true });
    return [status, answer.count ?? 0] as const;
  }));
  return Object.fromEntries(counts);
}

async function readJobs(filters: JobFilters, before: Cursor | null): Promise<JobSummary[]> {
  const request = projectClient().from("tasks").select(
    "id,agent_slug,status,input,metadata,priority,error,created_at,started_at,finished_at",
  );
  let page = limited(request, filters)
    .order("created_at", { ascending: false }).order("id", { ascending: false }).limit(PAGE_SIZE);
  if (before !== null) {
    const { created_at: at, id } = before;
    page = page.or(`created_at.lt."${at}",and(created_at.eq."${at}",id.lt.${id})`);
  }
  const jobs = dataOf(await page);
  const usage = await readUsage(jobs.map(({ id }) => id));
  return jobs.map(({ input, ...job }) => ({
    ...job,
    input_head: (typeof input === "string" ? input : JSON.stringify(input)).slice(0, 200),
    task_count: usage.get(job.id)?.task_count ?? 1,
    input_tokens: usage.get(job.id)?.input_tokens ?? 0,
    output_tokens: usage.get(job.id)?.output_tokens ?? 0,
    cost_micro_usd: usage.get(job.id)?.cost_micro_usd ?? null,
  }));
}

async function readUsage(ids: readonly string[]) {
  if (ids.length === 0) return new Map<string, never>();
  const rows = dataOf(
    await projectClient().from("job_usage")
      .select("master_task_id,task_count,input_tokens,output_tokens,cost_micro_usd")
      .in("master_task_id", ids),
  );
  return new Map(rows.map((row) => [row.master_task_id, row]));
}

/** The part of a request's builder that filters use. */
interface Filterable<Self> {
  is(column: "parent_id", value: null): Self;
  in(column: "status", values: readonly string[]): Self;
  eq(column: string, value: string): Self;
  gte(column: string, value: string): Self;
  lt(column: string, value: string): Self;
  lte(column: string, value: string): Self;
}

function limited<Request>(request: Request, filters: JobFilters): Request {
  let limited = (request as Filterable<Request>).is("parent_id", null) as Filterable<Request>;
  const add = (next: Request) => (limited = next as Filterable<Request>);
  if (filters.status.length > 0) add(limited.in("status", filters.status));
  if (filters.agent !== "") add(limited.eq("agent_slug", filters.agent));
  const pair = metadataPair(filters.metadata);
  if (pair !== null) add(limited.eq(`metadata->>${pair.key}`, pair.value));
  if (filters.from !== "") add(limited.gte("created_at", localDayStart(filters.from)));
  if (filters.to !== "") add(limited.lt("created_at", localDayStart(filters.to, 1)));
  if (filters.id !== "") {
    add(limited.gte("id", filledId(filters.id, "0")));
    add(limited.lte("id", filledId(filters.id, "f")));
  }
  return limited as Request;
}

/** The smallest or largest id that begins so. */
function filledId(prefix: string, filler: "0" | "f"): string {
  const hex = prefix.replaceAll("-", "").padEnd(32, filler);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    hex.slice(12, 16),
    hex.slice(16, 20),
    hex.slice(20, 32),
  ]
    .join("-");
}
