// deno-lint-ignore-file explicit-module-boundary-types -- a query has the type of its answer
import { useQuery } from "@tanstack/vue-query";
import { computed, type Ref } from "vue";
import type { Json } from "../../../client/mod.ts";
import type { TraceStep, TraceTask } from "../pages/job/trace/trace_model.ts";
import { projectSwarm } from "../project/project_client.ts";
import { dataOf, toRequestError } from "../project/request_error.ts";
import type { JobHead } from "./job.ts";
import { jobNotFound } from "./job_not_found.ts";
import { type JobRows, openedRows, ownRows } from "./job_rows.ts";
import { useIsOperator } from "./operator.ts";
import { readTrace } from "./trace.ts";

const POLL_MS = 2_000;
const COLUMNS =
  "id,master_task_id,agent_slug,agent_revision,status,error,input,output,created_at,started_at,finished_at";

/** A job with all that is compared with another one. */
export interface ComparedJob {
  readonly isOwn: boolean;
  readonly task:
    & Pick<
      JobHead,
      "id" | "agent_slug" | "status" | "error" | "created_at" | "started_at" | "finished_at"
    >
    & {
      readonly agent_revision: number | null;
      readonly input: Json;
      readonly output: Json;
    };
  readonly usage: {
    readonly task_count: number | null;
    readonly input_tokens: number | null;
    readonly output_tokens: number | null;
    readonly cost_micro_usd: number | null;
  } | null;
  readonly tasks: readonly TraceTask[];
  readonly steps: readonly TraceStep[];
}

/**
 * The job of a task: the user's own, or one that they have opened as an operator. Read again until
 * it has ended. An empty id reads nothing.
 */
export function useComparedJob(taskId: Ref<string>) {
  const { data: isOperator } = useIsOperator();
  return useQuery({
    queryKey: computed(() => ["job", taskId.value, "compared", isOperator.value ?? false]),
    queryFn: async ({ signal }) => {
      try {
        return await readJob(ownRows, taskId.value, signal);
      } catch (error) {
        if (isOperator.value !== true || toRequestError(error).status !== 404) throw error;
        return await readJob(openedRows, taskId.value, signal);
      }
    },
    enabled: computed(() => taskId.value !== ""),
    refetchInterval: ({ state }) => state.data?.task.finished_at ? false : POLL_MS,
  });
}

async function readJob(rows: JobRows, taskId: string, signal: AbortSignal): Promise<ComparedJob> {
  const found = await rows.tasks(taskId).select("master_task_id").eq("id", taskId).maybeSingle();
  const known = dataOf({ ...found, data: found.data ?? false }) as unknown as
    | { readonly master_task_id: string }
    | false;
  if (known === false) throw jobNotFound(taskId);
  const id = known.master_task_id;
  const [task, usage, trace] = await Promise.all([
    rows.tasks(id).select(COLUMNS).eq("id", id).single(),
    rows.usage(id),
    readTrace(id, rows, signal),
  ]);
  const row = dataOf(task) as unknown as ComparedJob["task"];
  const output = rows.isOwn ? await wholeOutput(row, signal) : row.output;
  return { isOwn: rows.isOwn, task: { ...row, output }, usage: dataOf(usage), ...trace };
}

/** A large output is stored as a file, which the client reads. */
async function wholeOutput(
  { id, status, output }: ComparedJob["task"],
  signal: AbortSignal,
): Promise<Json> {
  const isStored = typeof output === "object" && output !== null && "storage_path" in output;
  return isStored && status === "completed"
    ? await projectSwarm().job(id).result({ signal })
    : output;
}
