// deno-lint-ignore-file explicit-module-boundary-types -- a query has the type of its answer
import { useMutation, useQueryClient } from "@tanstack/vue-query";
import type { Json, JsonObject, RunOptions } from "../../../client/mod.ts";
import { projectClient, projectSwarm } from "../project/project_client.ts";
import { dataOf } from "../project/request_error.ts";

/** A job to create. */
export interface NewJob {
  readonly agent: string;
  readonly input: string | JsonObject;
  readonly options: RunOptions;
}

/** Creates a job. The same key returns the same job, so a repeated click creates no second one. */
export function useCreateJob() {
  return useJobMutation(({ agent, input, options }: NewJob) =>
    projectSwarm().run(agent, input, options)
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
  return await projectSwarm().job(jobId).cancel();
}

/** Resumes a task that failed or was cancelled. */
export function useRetryTask() {
  return useJobMutation(retryTask);
}

/** Like {@linkcode useRetryTask}, for many tasks. @throws RequestError */
export async function retryTask(taskId: string): Promise<void> {
  await projectSwarm().job(taskId).retry();
}

/**
 * Cancels another user's job, as an operator; the owner reads the reason. @throws RequestError
 */
export async function cancelForeignJob(jobId: string, reason: string): Promise<number> {
  return dataOf(
    await projectClient().rpc("operator_cancel_job", { p_master_task_id: jobId, p_reason: reason }),
  );
}

/** Retries another user's task, as {@linkcode cancelForeignJob}. @throws RequestError */
export async function retryForeignTask(taskId: string, reason: string): Promise<void> {
  dataOf(
    await projectClient().rpc("operator_retry_task", { p_task_id: taskId, p_reason: reason }),
  );
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
  return useJobMutation(async ({ taskId, seq, changes }: ForkRequest) => {
    const fork = await projectSwarm().job(taskId).fork({
      fromStep: seq,
      ...changes && { changes },
    });
    return fork.id;
  });
}

/** Adds a message from the user to a job that has ended. */
export function useContinueTask() {
  return useJobMutation(
    async ({ taskId, input }: { taskId: string; input: string | JsonObject }) => {
      await projectSwarm().job(taskId).continue(input);
    },
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
