import { z } from "../../vendor/zod.js";
import { CLOSED_SETS } from "../../platform/db/closed_sets.ts";
import type { JsonObject, JsonValue } from "../../platform/values/json.ts";
import { jsonObject } from "../../platform/values/json_schema.ts";
import {
  findSchemaProblems,
  schemaProblemText,
} from "../../models/tool_schemas/schema_problems.ts";

/** The input of a task. */
export const taskInput = z.custom<string | JsonObject>(
  (value) => typeof value === "string" ? value !== "" : jsonObject.safeParse(value).success,
  "must be an object or a non-empty text",
).meta({
  type: ["object", "string"],
  description: "What the agent works on: a text, or an object",
});

const anObject = jsonObject.meta({ type: "object" });
const cap = z.number().meta({ type: "integer", minimum: 0 }).nullable().optional();

/** The database rejects other keys; callers that read the schema do not send them. */
const budget = z.object({
  max_input_tokens: cap,
  max_output_tokens: cap,
  max_cost_micro_usd: cap,
  max_steps: cap,
  max_depth: cap,
  max_tasks: cap,
  max_wall_seconds: cap,
}).catchall(z.number().nullable()).meta({ additionalProperties: false });

/** In the words of agents/<slug>.md. The database says what is wrong with them. */
const agentChanges = z.strictObject({
  provider: z.string().optional().describe("Default: the provider that lists the model"),
  model: z.string().optional().describe("Default: the default model of the provider"),
  prompt: z.string().optional(),
  temperature: z.number().nullable().optional(),
  reasoning_effort: z.string().nullable().optional(),
  tools: z.array(z.strictObject({
    tool: z.string().describe("The slug"),
    allowed_tools: z.array(z.string()).optional().describe("Names of a server's tools"),
  })).optional().describe("All tools of the agent"),
});

/**
 * A request for a task: the body of `POST /functions/v1/supaswarm-create-task` and the arguments of
 * the tool `create_task`.
 *
 * The database defines the priorities and caps: `private.create_task()` returns
 * `TASK_PRIORITY_INVALID` and `TASK_BUDGET_INVALID` with the list.
 */
export const createTaskRequest = z.strictObject({
  agent: z.string().min(1).max(63).describe("Slug of the agent, from list_agents"),
  input: taskInput,
  idempotency_key: z.string().min(1).max(255).optional()
    .describe("Send the same key to repeat the call safely: a caller's key identifies one task"),
  run_after: z.iso.datetime({ offset: true })
    .refine((time) => !time.startsWith("0000"), "must be a date after the year 0").optional()
    .describe("The task is not started before this time (ISO 8601 with offset)"),
  priority: z.string().optional().meta({ enum: CLOSED_SETS.tasks.priority, default: "normal" }),
  concurrency_key: z.string().min(1).max(255).optional()
    .describe("Tasks with the same key share its limit"),
  metadata: anObject.optional().describe("Your own data, stored with the task"),
  budget: budget.optional()
    .describe("Caps of the whole job; null removes a cap. Agents must omit it"),
  max_attempts: z.int().min(1).max(1_000).optional()
    .describe("Number of errors of one step after which the task fails, instead of the default"),
  output_schema: anObject.superRefine(refuseUnusableSchema).optional()
    .meta({
      type: "object",
      description: "JSON Schema that the output must match, instead of the agent's own",
    }),
  agent_changes: agentChanges.optional()
    .describe(
      "Parts of the agent that this job replaces, to try them; the agent stays as it is. Only for " +
        "callers who may configure agents; agents must omit it",
    ),
  repeat_of: z.guid().optional()
    .describe("The task that this job repeats, which links to it. Agents must omit it"),
  watch: z.boolean().optional().meta({
    default: false,
    description: "Streams the models' text to the job's channel, for the first minute",
  }),
});

/** A checked request for a new master task. */
export type CreateTaskRequest = z.infer<typeof createTaskRequest>;

/** Response of `supaswarm-create-task`. */
export interface CreateTaskAnswer {
  readonly [key: string]: JsonValue;
  readonly task_id: string;
  readonly master_task_id: string;
  readonly status: string;
  /** Private Realtime channels of the task and of its whole job. */
  readonly channels: { readonly task: string; readonly master: string };
}

/** Refuses a schema that values cannot be checked against, or that is too large for models. */
function refuseUnusableSchema(schema: JsonObject, context: z.RefinementCtx): void {
  for (const problem of findSchemaProblems(schema)) {
    const message = `is not a usable JSON Schema: ${schemaProblemText("output_schema", problem)}`;
    context.addIssue({ code: "custom", message });
  }
}
