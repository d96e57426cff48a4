import { waitFor } from "../wait_for.ts";
import type { TraceView } from "./trace_view.ts";
import { createJob, type DemoUser, type FollowedJob, type Project } from "./user_client.ts";

/** The comment of the demo's reviewer. */
export const REVIEW_WORDS = "Looks right, go ahead.";

/** The project, the user and the trace view of the jobs. */
export interface JobContext {
  readonly project: Project;
  readonly user: DemoUser;
  readonly folder: string;
  /** Prints the trace; null prints nothing. */
  readonly view: TraceView | null;
}

/**
 * Runs the report job to its end. The user approves the review.
 *
 * @throws Error when the job fails or does not finish in time.
 */
export async function runReportJob(context: JobContext): Promise<FollowedJob> {
  const job = await startJob(context);
  const asked = await job.until(
    ({ type }) => type === "review.requested" || type === "task.failed",
    "the question to a person",
  );
  refuseFailure(asked.type, asked.data);
  const { error } = await context.user.client.rpc("respond_to_review", {
    p_task_id: job.taskId,
    p_approved: true,
    p_response: { choice: "Write it" },
    p_comments: REVIEW_WORDS,
  });
  if (error !== null) throw new Error(`Cannot answer the review: ${error.message}`);
  const ended = await job.until(
    ({ type, task_id }) =>
      task_id === job.taskId && /^task\.(completed|failed|cancelled)$/.test(type),
    "the end of the job",
  );
  refuseFailure(ended.type, ended.data);
  return job;
}

/** Starts the same job again and cancels it after the first handoff. */
export async function runCancelledJob(context: JobContext): Promise<FollowedJob> {
  const job = await startJob(context);
  await job.until(({ type }) => type === "subtask.created", "the first handoff");
  const { error } = await context.user.client.rpc("cancel_task", { p_master_task_id: job.taskId });
  if (error !== null) throw new Error(`Cannot cancel the job: ${error.message}`);
  await waitFor(() => hasEnded(context.user, job.taskId), {
    timeoutMs: 30_000,
    what: "the end of every task of the cancelled job",
  });
  return job;
}

async function startJob({ project, user, folder, view }: JobContext): Promise<FollowedJob> {
  return await createJob(project, user, {
    input: { folder },
    ...view === null ? {} : { onEvent: (event) => view.show(event) },
  });
}

/** Checks as the user, through the API, whether all tasks of the job have ended. */
async function hasEnded({ client }: DemoUser, jobId: string): Promise<boolean> {
  const { data, error } = await client.from("tasks").select("finished_at")
    .eq("master_task_id", jobId);
  if (error !== null) throw new Error(`Cannot read the tasks: ${error.message}`);
  return data.length > 0 && data.every(({ finished_at }) => finished_at !== null);
}

function refuseFailure(type: string, data: Readonly<Record<string, unknown>>): void {
  if (type === "task.failed") throw new Error(`The job failed: ${JSON.stringify(data.error)}`);
}
