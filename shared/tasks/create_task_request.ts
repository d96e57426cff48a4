import { z } from "../vendor/zod.js";
import { CLOSED_SETS } from "../db/database.types.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import { jsonObject } from "../json_schema.ts";
import { isUsableSchema } from "../tool_schemas/is_usable_schema.ts";

/** What an agent is given to work on. */
export const taskInput = z.custom<string | JsonObject>(
  (value) => typeof value === "string" ? value !== "" : jsonObject.safeParse(value).success,
  "must be an object or a text that is not empty",
).meta({
  type: ["object", "string"],
  description: "What the agent works on: a text, or an object",
});

const anObject = jsonObject.meta({ type: "object" });
const cap = z.number().meta({ type: "integer", minimum: 0 }).nullable().optional();

/** What is not listed here is the database's to refuse; callers that read the schema do not send it. */
const budget = z.object({
  max_input_tokens: cap,
  max_output_tokens: cap,
  max_cost_micro_usd: cap,
  max_steps: cap,
  max_depth: cap,
  max_tasks: cap,
  max_wall_seconds: cap,
}).catchall(z.number().nullable()).meta({ additionalProperties: false });

/**
 * A request for a task: the body of `POST /functions/v1/supaswarm-create-task` and the arguments of
 * the tool `create_task`.
 *
 * Which priorities and which caps exist is the database's to say: `private.create_task()` answers
 * `TASK_PRIORITY_INVALID` and `TASK_BUDGET_INVALID` with the list.
 */
export const createTaskRequest = z.strictObject({
  agent: z.string().min(1).max(63).describe("Slug of the agent, as list_agents gives it"),
  input: taskInput,
  idempotency_key: z.string().min(1).max(255).optional()
    .describe("The same key of the same caller names the same task: send it to repeat the call"),
  run_after: z.iso.datetime({ offset: true })
    .refine((time) => !time.startsWith("0000"), "must be a date of our era").optional()
    .describe("The task is not started before this time (ISO 8601 with offset)"),
  priority: z.string().optional().meta({ enum: CLOSED_SETS.tasks.priority, default: "normal" }),
  concurrency_key: z.string().min(1).max(255).optional()
    .describe("Tasks of one key share its limit"),
  metadata: anObject.optional().describe("Notes of your own, kept with the task"),
  budget: budget.optional()
    .describe("Caps of the whole job; null lifts a cap. Agents leave it out"),
  max_attempts: z.int().min(1).max(1_000).optional()
    .describe("Errors of one step after which the task fails, instead of the default"),
  output_schema: anObject.refine(isUsableSchema, "is not a JSON Schema that can be used").optional()
    .meta({
      type: "object",
      description: "JSON Schema that the output fits, instead of the agent's own",
    }),
  watch: z.boolean().optional().meta({
    default: false,
    description: "Streams the models' text to the job's channel, for the first minute",
  }),
});

/** A checked request for a new master task. */
export type CreateTaskRequest = z.infer<typeof createTaskRequest>;

/** Answer of `supaswarm-create-task`. */
export interface CreateTaskAnswer {
  readonly [key: string]: JsonValue;
  readonly task_id: string;
  readonly master_task_id: string;
  readonly status: string;
  /** Private Realtime channels of the task and of its whole job. */
  readonly channels: { readonly task: string; readonly master: string };
}
