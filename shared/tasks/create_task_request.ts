import { z } from "../vendor/zod.js";
import type { JsonObject, JsonValue } from "../json.ts";
import { jsonObject } from "../json_schema.ts";
import { isUsableSchema } from "../tool_schemas/is_usable_schema.ts";

const input = z.custom<string | JsonObject>(
  (value) => typeof value === "string" ? value !== "" : jsonObject.safeParse(value).success,
  "must be an object or a text that is not empty",
);

/**
 * Body of `POST /functions/v1/supaswarm-create-task`.
 *
 * Which priorities and which caps exist is the database's to say: `private.create_task()` answers
 * `TASK_PRIORITY_INVALID` and `TASK_BUDGET_INVALID` with the list.
 */
export const createTaskRequest = z.strictObject({
  /** Slug of the agent that gets the task. */
  agent: z.string().min(1).max(63),
  /** What the agent shall work on. */
  input,
  /** The same key of the same caller names the same task. */
  idempotency_key: z.string().min(1).max(255).optional(),
  /** The task is not started before this time (ISO 8601 with offset). */
  run_after: z.iso.datetime({ offset: true }).regex(/^(?!0000)/, "must be a date of our era")
    .optional(),
  priority: z.string().optional(),
  concurrency_key: z.string().min(1).max(255).optional(),
  /** The caller's own notes; kept, not interpreted. */
  metadata: jsonObject.optional(),
  /** Caps of the whole job; null lifts a cap. */
  budget: z.record(z.string(), z.number().nullable()).optional(),
  /** JSON Schema that the task's output fits, instead of the agent's. */
  output_schema: jsonObject.refine(isUsableSchema, "is not a JSON Schema that can be used")
    .optional(),
  /** The caller watches the job from its first model call on, as `watch_task()` has it. */
  watch: z.boolean().optional(),
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
