import { z } from "../../shared/vendor/zod.js";
import type { Sql } from "../../shared/platform/db/sql_client.ts";
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "../../shared/platform/values/json.ts";
import { jsonObject, jsonValue } from "../../shared/platform/values/json_schema.ts";
import { CommandError } from "../cli/run_command.ts";
import type { EvalsFile } from "./evals_file_schema.ts";
import { callOf, stepsSchema } from "./job_steps.ts";
import { createMask } from "./mask_values.ts";

/** An entry of `tests`. */
type TestEntry = EvalsFile["tests"][number];

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

/** Names of the files in which a large output is stored. */
const STORED_OUTPUT = /\/_output\.(txt|json)$/;

/**
 * Builds a test from a completed job: its input, the tools that it called in order, the answers of
 * people, and its output, as a text or as the schema of its JSON. What identifies people or grants
 * access is replaced.
 *
 * @param name The test's description. @default the job's id
 * @throws CommandError when the job does not exist, did not complete, was continued, or has an output
 * in a file.
 */
export async function testOfJob(
  sql: Sql,
  taskId: string,
  name = `job ${taskId}`,
): Promise<{ readonly agent: string; readonly test: TestEntry }> {
  const refuse = (problem: string) =>
    new CommandError(`Cannot make a test of ${taskId}: ${problem}`);
  const [row] = await sql`
    select task.agent_slug, task.status, task.input, task.output
    from public.tasks as task
    where task.id = ${taskId} and task.parent_id is null`;
  if (row === undefined) throw refuse("there is no such job");
  const { agent_slug: agent, status, input, output } = taskSchema.parse(row);
  if (status !== "completed") throw refuse(`it is ${status}, not completed`);
  if (isJsonObject(output) && STORED_OUTPUT.test(String(output.storage_path))) {
    throw refuse("its output is stored as a file; write the test by hand");
  }
  const steps = stepsSchema.parse([
    ...await sql`
      select step.kind, step.name, step.input from public.task_steps as step
      where step.task_id = ${taskId} order by step.seq`,
  ]);
  if (steps.some(({ kind }) => kind === "user")) {
    throw refuse("it was continued with another message, and a test has only one input");
  }
  const calls = steps.flatMap(callOf);
  const reviews = reviewsSchema.parse([
    ...await sql`
      select review.question, review.approved, review.comments, review.response
      from public.human_reviews as review
      join public.tasks as task on task.id = review.task_id
      where task.master_task_id = ${taskId} and review.answered_at is not null
      order by review.answered_at`,
  ]);
  const test = {
    description: name,
    vars: input,
    assert: [
      ...reviews.map(({ question, approved, comments, response }) => ({
        type: "review" as const,
        value: {
          question,
          approved,
          ...comments === null ? {} : { comments },
          ...Object.keys(response).length === 0 ? {} : { response },
        },
      })),
      // The arguments of functions of the platform are long texts that differ each time.
      ...calls.length === 0 ? [] : [{
        type: "trajectory" as const,
        value: calls.map((call) => call.tool.includes("/") ? { ...call } : call.tool),
      }],
      typeof output === "string"
        ? { type: "equals" as const, value: output }
        : { type: "is-json" as const, value: schemaOf(output) },
    ],
  };
  const mask = createMask();
  return { agent, test: { ...mask(test) as unknown as TestEntry, description: name } };
}

/**
 * The JSON Schema that a value of the same form matches: all members, and items like the first. What
 * is null here may be anything.
 */
function schemaOf(value: JsonValue): JsonObject {
  if (value === null) return {};
  if (Array.isArray(value)) {
    const [first] = value;
    return { type: "array", ...first === undefined ? {} : { items: schemaOf(first) } };
  }
  if (!isJsonObject(value)) return { type: typeof value };
  return {
    type: "object",
    properties: Object.fromEntries(
      Object.entries(value).map(([name, member]) => [name, schemaOf(member)]),
    ),
    required: Object.keys(value),
  };
}
