import type { JobEvent } from "../../client/mod.ts";
import type { ModelServer } from "../models/model_server.ts";
import { plannerAgent } from "../models/planner_agent.ts";
import { readerAgent } from "../models/reader_agent.ts";
import { waitFor } from "../wait_for.ts";
import { holdAgent } from "./hold_agent.ts";
import type { TraceView } from "./trace_view.ts";
import { createJob, type DemoUser, type FollowedJob } from "./user_client.ts";

/** The comment of the demo's reviewer. */
export const REVIEW_WORDS = "Looks right, go ahead.";

/** What the jobs need of the demo. */
export interface JobContext {
  readonly user: DemoUser;
  readonly folder: string;
  /** Plays the scripted agents. */
  readonly models: ModelServer;
  /** Prints the trace; null prints nothing. */
  readonly view: TraceView | null;
}

/**
 * Runs the report job to its end. The user approves the review.
 *
 * @throws Error when the job fails or does not finish in time.
 */
export async function runReportJob(context: JobContext): Promise<FollowedJob> {
  const followed = await startWatchedJob(context);
  const asked = await followed.until(
    ({ type }) => type === "review.requested" || type === "task.failed",
    "the question to a person",
  );
  refuseFailure(asked);
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
  refuseFailure(ended);
  await waitFor(() => followed.received.some(({ seq }) => seq === ended.id), {
    what: "the Realtime message of the job's end",
  });
  await followed.shown;
  return followed;
}

/** Starts the same job again, and cancels it while its readers wait for their models. */
export async function runCancelledJob(context: JobContext): Promise<FollowedJob> {
  using _held = holdAgent(context.models, readerAgent);
  const followed = await startWatchedJob(context);
  await followed.until(({ type }) => type === "subtask.created", "the first handoff");
  await followed.job.cancel();
  await waitFor(() => hasEnded(context.user, followed.taskId), {
    what: "the end of every task of the cancelled job",
  });
  await followed.shown;
  return followed;
}

/** Starts a job whose planner answers only when the job's channel is joined. */
async function startWatchedJob(context: JobContext): Promise<FollowedJob> {
  using _held = holdAgent(context.models, plannerAgent);
  const { user, folder, view } = context;
  const followed = await createJob(user, {
    input: { folder },
    ...view === null ? {} : { onEvent: (event) => view.show(event) },
  });
  await followed.joined;
  return followed;
}

/** Checks as the user, through the API, whether all tasks of the job have ended. */
async function hasEnded({ client }: DemoUser, jobId: string): Promise<boolean> {
  const { data, error } = await client.from("tasks").select("finished_at")
    .eq("master_task_id", jobId);
  if (error !== null) throw new Error(`Cannot read the tasks: ${error.message}`);
  return data.length > 0 && data.every(({ finished_at }) => finished_at !== null);
}

function refuseFailure(event: JobEvent): void {
  if (event.type !== "task.failed") return;
  throw new Error(`The job failed: ${JSON.stringify(event.data.error)}`);
}
