import { RequestError } from "../project/request_error.ts";

/** What is said of a job that row level security does not show, or that does not exist. */
export function jobNotFound(jobId: string): RequestError {
  return new RequestError({
    code: "TASK_NOT_FOUND",
    message: `There is no job ${jobId}`,
    hint: "It may be another user's, or it was deleted.",
    status: 404,
  });
}
