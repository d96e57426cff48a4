// deno-lint-ignore-file explicit-module-boundary-types -- a query has the type of its answer
import { useQuery } from "@tanstack/vue-query";
import { computed, type Ref } from "vue";
import { projectClient } from "../project/project_client.ts";
import { dataOf } from "../project/request_error.ts";
import { isSignedIn } from "../project/session.ts";
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
  /** What the jobs change of the agent; null for the agent as it is. */
  readonly agent_changes: Readonly<Record<string, unknown>> | null;
  /** The models that answered, such as `demo of demo`; null before the run ends. */
  readonly answered_by: readonly string[] | null;
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
  const source = useEvalSource();
  return useQuery({
    queryKey: computed(() => ["evals", source.value.runs]),
    queryFn: async () =>
      dataOf(
        await projectClient().from(source.value.runs).select("*")
          .order("created_at", { ascending: false }).limit(MAX_RUNS),
      ) as unknown as readonly EvalRun[],
    enabled: computed(() => isSignedIn.value),
  });
}

/** A run with its results, or null if there is none for the user. */
export function useEvalRun(id: Ref<string>) {
  const source = useEvalSource();
  return useQuery({
    queryKey: computed(() => ["evals", source.value.runs, id.value]),
    queryFn: async () => {
      const { runs: view, resultsOf } = source.value;
      const [runs, results] = await Promise.all([
        projectClient().from(view).select("*").eq("id", id.value).limit(1),
        resultsOf(id.value).order("test").order("repeat").limit(MAX_RESULTS),
      ]);
      const [run] = dataOf(runs) as unknown as readonly EvalRun[];
      const rows = dataOf(results) as unknown as readonly EvalResult[];
      return run === undefined ? null : { run, results: rows };
    },
    enabled: computed(() => id.value !== ""),
    refetchInterval: (query) => query.state.data?.run.finished_at ? false : POLL_MS,
  });
}

/** Where the user reads runs and their results: operators those of all users. */
function useEvalSource() {
  const { data: isOperator } = useIsOperator();
  return computed(() =>
    isOperator.value === true
      // In the form of the user's own, which they have.
      ? { runs: "operator_eval_runs" as "eval_runs", resultsOf: anyResults }
      : { runs: "eval_runs" as const, resultsOf: ownResults }
  );
}

function ownResults(runId: string) {
  return projectClient().from("eval_results").select("*").eq("run_id", runId);
}

function anyResults(runId: string): ReturnType<typeof ownResults> {
  return projectClient().rpc("operator_eval_results", { p_run_id: runId }) as unknown as ReturnType<
    typeof ownResults
  >;
}
