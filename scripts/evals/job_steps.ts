import { z } from "../../shared/vendor/zod.js";
import { jsonObject } from "../../shared/platform/values/json_schema.ts";
import type { RecordedCall } from "./job_record.ts";

/** The columns of `task_steps` from which {@linkcode callOf} reads calls. */
export const stepsSchema = z.array(z.object({
  kind: z.string(),
  name: z.string(),
  input: z.object({ server: z.string().optional(), arguments: jsonObject.catch({}) }).nullable(),
}));

/** The call of a step, or none. The call that ends the task is its output. */
export function callOf(
  { kind, name, input }: z.infer<typeof stepsSchema>[number],
): RecordedCall[] {
  const isCall = (kind === "tool" || kind === "system") && name !== "complete_task";
  if (!isCall || input === null) return [];
  const tool = input.server === undefined ? name : `${input.server}/${name}`;
  return [{ tool, arguments: input.arguments }];
}
