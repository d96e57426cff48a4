import type { JsonObject, JsonValue } from "../../shared/platform/values/json.ts";
import type { Job } from "../../client/job.ts";
import type { JobEvent } from "../../client/job_event.ts";
import type { AgentChanges, Swarm } from "../../client/create_swarm.ts";
import { definedOnly } from "../../shared/platform/values/defined_only.ts";
import type { ReviewAnswer } from "../../client/reviews.ts";
import { readRows, type SupabaseLike } from "../../client/supabase.ts";
import { SwarmClientError } from "../../client/swarm_client_error.ts";
import { callOf } from "../../shared/engine/evals/test_of_job.ts";
import { writeError } from "../terminal.ts";
import type { JobRecord } from "./job_record.ts";
import { stepsSchema } from "./job_steps.ts";

/** The client of the user of evals. */
export interface EvalClient {
  readonly userId: string;
  readonly swarm: Swarm;
  /** With the project's names. */
  readonly supabase: SupabaseLike;
}

/** A job to run. */
export interface JobRequest {
  readonly agent: string;
  readonly input: string | JsonObject;
  readonly metadata: JsonObject;
  /** @default none */
  readonly agentChanges?: AgentChanges;
  /** Answers of a person, in the order of the reviews of the whole job. */
  readonly answers: readonly ReviewAnswer[];
  /** A job that takes longer is cancelled. */
  readonly limitMs: number;
  readonly signal: AbortSignal;
}

/**
 * Runs a job to its end, answers its reviews, and returns what it did. A job that fails or asks more
 * than the answers know is a record too.
 *
 * @throws SwarmClientError when the platform refuses the job; the signal's reason.
 */
export async function runJob(
  { swarm, supabase, userId }: EvalClient,
  { agent, input, metadata, agentChanges, answers, limitMs, signal }: JobRequest,
): Promise<JobRecord> {
  // Without the signal: a request that is cut may have started a job that nobody would cancel.
  const { id } = await swarm.run(agent, input, { metadata, ...definedOnly({ agentChanges }) });
  const job = swarm.job(id, { signal });
  try {
    signal.throwIfAborted();
    const { questions, problem } = await followReviews(job, answers, limitMs);
    const { output, error } = await resultOf(job);
    const [summary] = await swarm.jobs.list({ idPrefix: job.id, limit: 1, signal });
    const steps = stepsSchema.parse(
      await readRows(
        supabase,
        "task_steps",
        (rows) => rows.select("kind,name,input").eq("task_id", job.id).order("seq"),
        { signal },
      ),
    );
    return {
      taskId: job.id,
      userId,
      input,
      output,
      error: problem ?? error,
      calls: steps.flatMap(callOf),
      questions,
      latencyMs: Date.parse(summary?.finished_at ?? "") -
        Date.parse(summary?.started_at ?? summary?.created_at ?? ""),
      usage: {
        inputTokens: summary?.input_tokens ?? 0,
        outputTokens: summary?.output_tokens ?? 0,
        costMicroUsd: summary?.cost_micro_usd ?? null,
        stepCount: steps.length,
        taskCount: summary?.task_count ?? 1,
      },
    };
  } catch (error) {
    // Nobody waits for it any more.
    await job.cancel().catch((problem) =>
      writeError(`Cannot cancel job ${id}, which goes on: ${problem.message}`)
    );
    throw error;
  }
}

/** Answers reviews until the job has ended. Cancels a job that asks more, or takes too long. */
async function followReviews(job: Job, answers: readonly ReviewAnswer[], limitMs: number) {
  const questions: string[] = [];
  let problem: string | null = null;
  const timer = setTimeout(() => {
    problem ??= `it did not end within ${limitMs / 1_000} s`;
    // The events say whether it has ended.
    job.cancel().catch(() => {});
  }, limitMs);
  try {
    for await (const event of job) {
      if (event.type !== "review.requested") continue;
      problem ??= await answer(job, event, answers[questions.length]);
      questions.push(event.data.question);
      if (problem !== null) await job.cancel();
    }
  } finally {
    clearTimeout(timer);
  }
  return { questions, problem };
}

async function answer(
  job: Job,
  event: JobEvent & { readonly type: "review.requested" },
  given: ReviewAnswer | undefined,
): Promise<string | null> {
  if (given === undefined) {
    return `a person was asked "${event.data.question}", and the test has no assertion of the type ` +
      "review that answers";
  }
  try {
    await job.respond(event, given);
    return null;
  } catch (error) {
    if (!(error instanceof SwarmClientError) || error.status < 400 || error.status >= 500) {
      throw error;
    }
    return `the answer to "${event.data.question}" was refused: ${error.message}`;
  }
}

/** The output of an ended job, or why there is none. */
export async function resultOf(
  job: Job,
): Promise<{ readonly output: JsonValue; readonly error: string | null }> {
  try {
    return { output: await job.result() as JsonValue, error: null };
  } catch (error) {
    // A job's own failure has no HTTP status; the client repeats requests without an answer.
    if (!(error instanceof SwarmClientError) || error.status !== 0) throw error;
    return { output: null, error: `${error.message} [${error.code}]` };
  }
}
