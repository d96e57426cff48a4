// deno-lint-ignore-file explicit-module-boundary-types -- a query has the type of its answer
import { useQuery } from "@tanstack/vue-query";
import { computed, type Ref } from "vue";
import { projectClient } from "../project/project_client.ts";
import { dataOf } from "../project/request_error.ts";
import { useIsOperator } from "./operator.ts";

const POLL_MS = 10_000;
const MAX_RUNS = 200;
/** The most that the project sends in one answer. */
const MAX_RESULTS = 1_000;

/** A run of the tests of an agent. */
export interface EvalRun {
  readonly id: string;
  readonly created_by: string;
  readonly agent_slug: string;
  readonly agent_revision: number | null;
  readonly provider: string | null;
  readonly model: string | null;
  readonly result_count: number;
  readonly passed_count: number;
  readonly created_at: string;
  readonly finished_at: string | null;
}

/** The result of one job. */
export interface EvalResult {
  readonly test: string;
  readonly repeat: number;
  /** Null when the job was deleted. */
  readonly task_id: string | null;
  readonly passed: boolean;
  readonly assertions: readonly { readonly type: string; readonly reason: string | null }[];
  readonly error: string | null;
  readonly cost_micro_usd: number | null;
  readonly latency_ms: number | null;
}

/** The runs that the user may read, newest first: operators all, others their own. */
export function useEvalRuns() {
  const views = useEvalViews();
  return useQuery({
    queryKey: computed(() => ["evals", views.value.runs]),
    queryFn: async () =>
      dataOf(
        await projectClient().from(views.value.runs).select("*")
          .order("created_at", { ascending: false }).limit(MAX_RUNS),
      ) as unknown as readonly EvalRun[],
  });
}

/** A run with its results, or null if there is none for the user. */
export function useEvalRun(id: Ref<string>) {
  const views = useEvalViews();
  return useQuery({
    queryKey: computed(() => ["evals", views.value.runs, id.value]),
    queryFn: async () => {
      const client = projectClient();
      const [runs, results] = await Promise.all([
        client.from(views.value.runs).select("*").eq("id", id.value).limit(1),
        client.from(views.value.results).select("*").eq("run_id", id.value)
          .order("test").order("repeat").limit(MAX_RESULTS),
      ]);
      const [run] = dataOf(runs) as unknown as readonly EvalRun[];
      const rows = dataOf(results) as unknown as readonly EvalResult[];
      return run === undefined ? null : { run, results: rows };
    },
    enabled: computed(() => id.value !== ""),
    refetchInterval: (query) => query.state.data?.run.finished_at ? false : POLL_MS,
  });
}

/** Operators read views, which have the columns of the tables. */
function useEvalViews() {
  const { data: isOperator } = useIsOperator();
  return computed(() => {
    const prefix = isOperator.value === true ? "operator_" : "";
    return {
      runs: `${prefix}eval_runs` as "eval_runs",
      results: `${prefix}eval_results` as "eval_results",
    };
  });
}
