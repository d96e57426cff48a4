import { z } from "../../shared/vendor/zod.js";
import { jsonObject } from "../../shared/platform/values/json_schema.ts";

/** The columns of `task_steps` that say which tools were called. */
export const stepsSchema = z.array(z.object({
  kind: z.string(),
  // Messages of users have none.
  name: z.string().catch(""),
  input: z.object({ server: z.string().optional(), arguments: jsonObject.catch({}) }).nullable()
    .catch(null),
}));
