import { z } from "../../shared/vendor/zod.js";
import { type CompletedJob, obstacleOf } from "../../shared/engine/evals/test_of_job.ts";
import type { Sql } from "../../shared/platform/db/sql_client.ts";
import { jsonObject, jsonValue } from "../../shared/platform/values/json_schema.ts";
import { CommandError } from "../cli/run_command.ts";
import { stepsSchema } from "./job_steps.ts";

const taskSchema = z.object({
  agent_slug: z.string(),
  status: z.string(),
  input: z.union([z.string(), jsonObject]),
  output: jsonValue,
});

const reviewsSchema = z.array(z.object({
  question: z.string(),
  approved: z.boolean(),
  comments: z.string().nullable(),
  response: jsonObject,
}));

/**
 * Reads what a test of a job is made of.
 *
 * @throws CommandError when the job does not exist, did not complete, or no test can be made of it.
 */
export async function readCompletedJob(
  sql: Sql,
  taskId: string,
): Promise<{ readonly agent: string; readonly job: CompletedJob }> {
  const refuse = (problem: string) =>
    new CommandError(`Cannot make a test of ${taskId}: ${problem}`);
  const [row] = await sql`
    select task.agent_slug, task.status, task.input, task.output
    from public.tasks as task
    where task.id = ${taskId} and task.parent_id is null`;
  if (row === undefined) throw refuse("there is no such job");
  const { agent_slug: agent, status, input, output } = taskSchema.parse(row);
  if (status !== "completed") throw refuse(`it is ${status}, not completed`);
  const steps = stepsSchema.parse([
    ...await sql`
      select step.kind, step.name, step.input from public.task_steps as step
      where step.task_id = ${taskId} order by step.seq`,
  ]);
  const obstacle = obstacleOf(output, steps.map(({ kind }) => kind));
  if (obstacle !== null) throw refuse(`${obstacle}; write the test by hand`);
  const reviews = reviewsSchema.parse([
    ...await sql`
      select review.question, review.approved, review.comments, review.response
      from public.human_reviews as review
      join public.tasks as task on task.id = review.task_id
      where task.master_task_id = ${taskId} and review.answered_at is not null
      order by review.answered_at`,
  ]);
  return { agent, job: { input, output, steps, reviews } };
}
