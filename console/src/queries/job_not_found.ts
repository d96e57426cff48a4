import { RequestError } from "../project/request_error.ts";

/** The error for a job that row level security hides or that does not exist. */
export function jobNotFound(jobId: string): RequestError {
  return new RequestError({
    code: "TASK_NOT_FOUND",
    message: `Job ${jobId} not found`,
    hint: "It may belong to another user, or it may have been deleted.",
    status: 404,
  });
}
