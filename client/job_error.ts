import type { JobStatus, TaskError } from "./job_event.ts";
import { SwarmClientError } from "./swarm_client_error.ts";

/** The error of a job that failed or was cancelled. */
export function jobError(
  id: string,
  { status, error }: { readonly status: JobStatus; readonly error?: TaskError | null | undefined },
): SwarmClientError {
  return new SwarmClientError({
    code: error?.code ?? "TASK_CANCELLED",
    message: error?.message ?? `Job ${id} was ${status}`,
    hint: error?.hint ?? null,
    details: error?.details,
  });
}
