import { waitFor } from "../wait_for.ts";
import type { TraceView } from "./trace_view.ts";
import { createJob, type DemoUser, type FollowedJob, type Project } from "./user_client.ts";

/** What the reviewer of the demo says. */
export const REVIEW_WORDS = "Looks right, go ahead.";

/** Where the jobs run, for whom, and who watches. */
export interface JobContext {
  readonly project: Project;
  readonly user: DemoUser;
  readonly folder: string;
  /** Null: nobody watches. */
  readonly view: TraceView | null;
}

/**
 * Runs the report job to its end; the user approves when asked.
 *
 * @throws Error when the job fails, or comes to nothing in time.
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
  if (error !== null) throw new Error(`Answering the review failed: ${error.message}`);
  const ended = await job.until(
    ({ type, task_id }) =>
      task_id === job.taskId && /^task\.(completed|failed|cancelled)$/.test(type),
    "the end of the job",
  );
  refuseFailure(ended.type, ended.data);
  return job;
}

/** Starts the same job again and cancels it as soon as it has handed off. */
export async function runCancelledJob(context: JobContext): Promise<FollowedJob> {
  const job = await startJob(context);
  await job.until(({ type }) => type === "subtask.created", "the first handoff");
  const { error } = await context.user.client.rpc("cancel_task", { p_master_task_id: job.taskId });
  if (error !== null) throw new Error(`Cancelling failed: ${error.message}`);
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

/** Asked as the user, through the API. */
async function hasEnded({ client }: DemoUser, jobId: string): Promise<boolean> {
  const { data, error } = await client.from("tasks").select("finished_at")
    .eq("master_task_id", jobId);
  if (error !== null) throw new Error(`Reading the tasks failed: ${error.message}`);
  return data.length > 0 && data.every(({ finished_at }) => finished_at !== null);
}

function refuseFailure(type: string, data: Readonly<Record<string, unknown>>): void {
  if (type === "task.failed") throw new Error(`The job failed: ${JSON.stringify(data.error)}`);
}
