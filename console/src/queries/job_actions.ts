// deno-lint-ignore-file explicit-module-boundary-types -- a query has the type of its answer
import { useMutation, useQueryClient } from "@tanstack/vue-query";
import type { Json } from "../../../shared/platform/db/database.types.ts";
import { callFunction } from "../project/call_function.ts";
import { projectClient } from "../project/project_client.ts";
import { dataOf } from "../project/request_error.ts";

/** The request of `supaswarm-create-task`. */
export interface NewJob {
  readonly agent: string;
  readonly input: Json;
  readonly idempotency_key: string;
  readonly priority?: string;
  readonly run_after?: string;
  readonly metadata?: Json;
  readonly budget?: Json;
  readonly watch: boolean;
}

/** The answer of `supaswarm-create-task`. */
export interface CreatedJob {
  readonly task_id: string;
  readonly master_task_id: string;
}

/** Creates a job. The same key returns the same job, so a repeated click creates no second one. */
export function useCreateJob() {
  return useJobMutation((job: NewJob) =>
    callFunction<CreatedJob>("supaswarm-create-task", { body: job })
  );
}

/** Cancels a job and everything below it. */
export function useCancelJob() {
  return useJobMutation(cancelJob);
}

/**
 * Like {@linkcode useCancelJob}, for many jobs: nothing is reloaded after each. @throws
 * RequestError
 */
export async function cancelJob(jobId: string): Promise<number> {
  return dataOf(await projectClient().rpc("cancel_task", { p_master_task_id: jobId }));
}

/** Resumes a task that failed or was cancelled. */
export function useRetryTask() {
  return useJobMutation(retryTask);
}

/** Like {@linkcode useRetryTask}, for many tasks. @throws RequestError */
export async function retryTask(taskId: string): Promise<string> {
  return dataOf(await projectClient().rpc("retry_task", { p_task_id: taskId }));
}

/** Where a fork begins, and its changes. */
export interface ForkRequest {
  readonly taskId: string;
  readonly seq: number;
  /** Any of `input`, `arguments` and `answer`; null for none. */
  readonly changes: Readonly<Record<string, Json>> | null;
}

/** Creates a job from the steps before a step, and returns its id. */
export function useForkTask() {
  return useJobMutation(async ({ taskId, seq, changes }: ForkRequest) =>
    dataOf(
      await projectClient().rpc("fork_task", {
        p_task_id: taskId,
        p_from_seq: seq,
        ...(changes === null ? {} : { p_changes: { ...changes } }),
      }),
    )
  );
}

/** Adds a message from the user to a job that has ended. */
export function useContinueTask() {
  return useJobMutation(async ({ taskId, input }: { taskId: string; input: Json }) =>
    dataOf(await projectClient().rpc("continue_task", { p_task_id: taskId, p_input: input }))
  );
}

function useJobMutation<Variables, Answer>(mutationFn: (given: Variables) => Promise<Answer>) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn,
    onSettled: () => {
      void queries.invalidateQueries({ queryKey: ["jobs"] });
      void queries.invalidateQueries({ queryKey: ["job"] });
    },
  });
}
