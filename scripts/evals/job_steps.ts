import { z } from "../../shared/vendor/zod.js";
import { jsonObject, jsonValue } from "../../shared/platform/values/json_schema.ts";
import type { RecordedCall } from "./job_record.ts";

/** The columns of `task_steps` from which {@linkcode callOf} reads calls. */
export const stepsSchema = z.array(z.object({
  kind: z.string(),
  name: z.string().nullable(),
  input: jsonValue,
}));

const callSchema = z.object({
  name: z.string(),
  input: z.object({ server: z.string().optional(), arguments: jsonObject.catch({}) }).nullable(),
});

/** The call of a step, or none. The call that ends the task is its output. */
export function callOf(step: z.infer<typeof stepsSchema>[number]): RecordedCall[] {
  if (step.kind !== "tool" && step.kind !== "system") return [];
  const { name, input } = callSchema.parse(step);
  if (name === "complete_task" || input === null) return [];
  const tool = input.server === undefined ? name : `${input.server}/${name}`;
  return [{ tool, arguments: input.arguments }];
}
