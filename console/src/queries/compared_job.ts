// deno-lint-ignore-file explicit-module-boundary-types -- a query has the type of its answer
import { useQuery } from "@tanstack/vue-query";
import { computed, type Ref } from "vue";
import type { Json, JsonObject } from "../../../client/mod.ts";
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
  "id,master_task_id,agent_slug,agent_revision,agent_changes,status,error,input,output," +
  "created_at,started_at,finished_at";

/** A row of a task that is compared. */
export interface ComparedTask extends
  Pick<
    JobHead,
    | "id"
    | "master_task_id"
    | "agent_slug"
    | "status"
    | "error"
    | "created_at"
    | "started_at"
    | "finished_at"
  > {
  readonly agent_revision: number | null;
  /** What the job changed of its agent. */
  readonly agent_changes: JsonObject | null;
  readonly input: Json;
  readonly output: Json;
}

/** A job, or a subtask with those below it, with all that is compared. */
export interface ComparedJob {
  readonly isOwn: boolean;
  readonly task: ComparedTask;
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
 * A job or subtask: the user's own, or one that they have opened as an operator. Read again until it
 * has ended. An empty id reads nothing.
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
  const found = await rows.tasks(taskId).select(COLUMNS).eq("id", taskId).maybeSingle();
  const task = dataOf({ ...found, data: found.data ?? false }) as unknown as ComparedTask | false;
  if (task === false) throw jobNotFound(taskId);
  const jobId = task.master_task_id;
  const trace = await readTrace(jobId, rows, signal);
  const isJob = jobId === taskId;
  const tasks = isJob ? trace.tasks : tasksBelow(taskId, trace.tasks);
  const ids = new Set(tasks.map(({ id }) => id));
  return {
    isOwn: rows.isOwn,
    task: { ...task, output: rows.isOwn && isJob ? await wholeOutput(task, signal) : task.output },
    usage: isJob ? dataOf(await rows.usage(jobId)) : await usageOf(rows, taskId, [...ids]),
    tasks,
    steps: trace.steps.filter((step) => ids.has(step.task_id)),
  };
}

/** A subtask and the tasks below it. */
function tasksBelow(id: string, tasks: readonly TraceTask[]): TraceTask[] {
  const children = Map.groupBy(tasks, ({ parent_id: parentId }) => parentId);
  const below = tasks.filter((task) => task.id === id);
  for (let at = 0; at < below.length; at++) below.push(...children.get(below[at]?.id ?? "") ?? []);
  return below;
}

/** The sums of tasks that are not a whole job, in the form of `job_usage`; of a running task those from before. */
async function usageOf(
  rows: JobRows,
  taskId: string,
  ids: readonly string[],
): Promise<ComparedJob["usage"]> {
  const used = dataOf(
    await rows.tasks(taskId).select("input_tokens,output_tokens,cost_micro_usd").in("id", ids),
  );
  const costs = used.flatMap(({ cost_micro_usd: cost }) => cost === null ? [] : [cost]);
  return {
    task_count: used.length,
    input_tokens: used.reduce((sum, { input_tokens: tokens }) => sum + tokens, 0),
    output_tokens: used.reduce((sum, { output_tokens: tokens }) => sum + tokens, 0),
    cost_micro_usd: costs.length === 0 ? null : costs.reduce((sum, cost) => sum + cost, 0),
  };
}

/** A large output is stored as a file, which the client reads. */
async function wholeOutput(
  { id, status, output }: ComparedTask,
  signal: AbortSignal,
): Promise<Json> {
  const isStored = typeof output === "object" && output !== null && "storage_path" in output;
  return isStored && status === "completed"
    ? await projectSwarm().job(id).result({ signal })
    : output;
}
