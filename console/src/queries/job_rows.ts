import { inject, type InjectionKey } from "vue";
import { projectClient } from "../project/project_client.ts";

/** The key by which a page provides {@linkcode openedRows} to the components of a job. */
export const jobRowsKey: InjectionKey<JobRows> = Symbol("rows of the job");
const TOTALS = "task_count,input_tokens,output_tokens,cost_micro_usd";

/** The rows of the user's own jobs. */
export const ownRows = {
  /** Only owners fork and continue a job, answer its reviews and grade its calls. */
  isOwn: true,
  /** The tasks of the job of a task. */
  tasks: (_taskId: string) => projectClient().from("tasks"),
  /** The steps of a task. */
  steps: (_taskId: string) => projectClient().from("task_steps"),
  /** The events of the job of a task. */
  events: (_taskId: string) => projectClient().from("task_events"),
  /** The calls of a task in the ledger. */
  calls: (_taskId: string) => projectClient().from("mcp_executions"),
  /** The totals of a job. */
  usage: (jobId: string) =>
    projectClient().from("job_usage").select(TOTALS).eq("master_task_id", jobId).maybeSingle(),
};

/** Where a job page reads its rows. Readers select columns of them, and filter by task or job. */
export type JobRows = typeof ownRows;

/** The rows of another user's job that an operator has opened. */
export const openedRows: JobRows = {
  isOwn: false,
  // A function that returns rows of a table takes the same selections and filters as the table.
  tasks: (taskId) =>
    projectClient().rpc("operator_tasks", { p_task_id: taskId }) as unknown as ReturnType<
      JobRows["tasks"]
    >,
  steps: (taskId) =>
    projectClient().rpc("operator_steps", { p_task_id: taskId }) as unknown as ReturnType<
      JobRows["steps"]
    >,
  events: (taskId) =>
    projectClient().rpc("operator_events", { p_task_id: taskId }) as unknown as ReturnType<
      JobRows["events"]
    >,
  calls: (taskId) =>
    projectClient().rpc("operator_calls", { p_task_id: taskId }) as unknown as ReturnType<
      JobRows["calls"]
    >,
  usage: (jobId) =>
    projectClient().rpc("operator_list_jobs", { p_filters: { id_prefix: jobId } })
      .select(TOTALS).maybeSingle() as unknown as ReturnType<JobRows["usage"]>,
};

/** The rows that the components of this job read. */
export function useJobRows(): JobRows {
  return inject(jobRowsKey, ownRows);
}
