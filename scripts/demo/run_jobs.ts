import { waitFor } from "../wait_for.ts";
import type { TraceView } from "./trace_view.ts";
import { createJob, type DemoUser, type FollowedJob } from "./user_client.ts";

/** The comment of the demo's reviewer. */
export const REVIEW_WORDS = "Looks right, go ahead.";

/** The user and the trace view of the jobs. */
export interface JobContext {
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
  const followed = await startJob(context);
  const asked = await followed.until(
    ({ type }) => type === "review.requested" || type === "task.failed",
    "the question to a person",
  );
  refuseFailure(asked.type, asked.data);
  await followed.job.respond(followed.taskId, {
    approved: true,
    choice: "Write it",
    comments: REVIEW_WORDS,
  });
  const ended = await followed.until(
    ({ type, task_id }) =>
      task_id === followed.taskId && /^task\.(completed|failed|cancelled)$/.test(type),
    "the end of the job",
  );
  refuseFailure(ended.type, ended.data);
  return followed;
}

/** Starts the same job again and cancels it after the first handoff. */
export async function runCancelledJob(context: JobContext): Promise<FollowedJob> {
  const followed = await startJob(context);
  await followed.until(({ type }) => type === "subtask.created", "the first handoff");
  await followed.job.cancel();
  await waitFor(() => hasEnded(context.user, followed.taskId), {
    timeoutMs: 30_000,
    what: "the end of every task of the cancelled job",
  });
  return followed;
}

async function startJob({ user, folder, view }: JobContext): Promise<FollowedJob> {
  return await createJob(user, {
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
