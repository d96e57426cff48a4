import { z } from "../../vendor/zod.js";
import { CLOSED_SETS } from "../../platform/db/closed_sets.ts";
import { jsonObject, jsonValue } from "../../platform/values/json_schema.ts";

const status = z.enum(CLOSED_SETS.tasks.status);

/** A task in a list. */
export const taskSummary = z.object({
  task_id: z.string(),
  agent: z.string().nullable(),
  status,
  created_at: z.string(),
  finished_at: z.string().nullable(),
  error: jsonValue.nullable().describe("The reason of a failure: {code, message, hint}"),
});

/** A task as `get_task` shows it. */
const taskView = taskSummary.extend({
  master_task_id: z.string(),
  parent_id: z.string().nullable(),
  started_at: z.string().nullable(),
  output: jsonValue.nullable().describe("The result; a large one is a reference to a file"),
  warnings: z.array(jsonObject).describe(
    "Tools that failed and have not succeeded since: {server, tool, code, message, step_seq}. " +
      "The output may lack what they know. MODEL_OUTPUT_CUT without a server: the output is cut",
  ),
  data_keys: z.array(z.string()).describe("Keys that read_data can read"),
  files: z.array(z.string()).describe("Paths that read_file can read"),
  input_tokens: z.number().describe(
    "Like output_tokens and cost_micro_usd without the calls since the task last began to run; job_usage has all",
  ),
  output_tokens: z.number(),
  cost_micro_usd: z.number().nullable().describe("Millionths of a US dollar; null if unknown"),
});

/** An open question to a person. */
const openReview = z.object({
  task_id: z.string().describe("The task_id for answer_review"),
  step: z.number().describe("The step for answer_review"),
  agent: z.string().nullable(),
  kind: z.enum(CLOSED_SETS.human_reviews.kind),
  question: z.string(),
  options: jsonValue.nullable(),
  context: jsonValue.nullable(),
  asked_at: z.string(),
});

const jobEvent = z.object({
  id: z.number(),
  task_id: z.string(),
  type: z.string(),
  at: z.string(),
  data: jsonObject,
});

/** What the SQL function `read_events` returns. */
export const eventPage = z.object({
  events: z.array(jobEvent),
  next_cursor: z.string(),
  has_more: z.boolean(),
});

/** The usage of a whole job so far. */
const jobUsage = z.object({
  task_count: z.number(),
  input_tokens: z.number(),
  output_tokens: z.number(),
  cost_micro_usd: z.number().nullable()
    .describe("Millionths of a US dollar; null if no model with a price was called"),
});

/** A snapshot of a job. */
export const jobView = z.object({
  task: taskView,
  job_usage: jobUsage.describe("Of the whole job: its master task and all subtasks"),
  has_ended: z.boolean(),
  open_reviews: z.array(openReview),
  subtasks: z.record(z.string(), z.number()).describe("Number of subtasks by status"),
  events: z.array(jobEvent),
  next_cursor: z.string().describe("The cursor for the next call"),
  has_more_events: z.boolean().describe("Whether to call again immediately for more events"),
});

/** See {@linkcode jobView}. */
export type JobView = z.infer<typeof jobView>;
