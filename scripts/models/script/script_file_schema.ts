import { z } from "../../../shared/vendor/zod.js";
import { jsonObject, jsonValue } from "../../../shared/platform/values/json_schema.ts";

const text = z.string().min(1);

const whenSchema = z.strictObject({
  first: z.literal(true).optional().describe("The model has not answered yet."),
  contains: text.optional().describe(
    "The text is in the newest message of the user, or in the result that result_of names.",
  ),
  matches: text.optional().describe(
    "A JavaScript regular expression for the same text. Answers can quote its captures.",
  ),
  result_of: text.optional().describe(
    "The newest message is the result of this tool, such as crm/find or create_subtask.",
  ),
});

const callSchema = z.strictObject({
  tool: text.describe("A tool that the agent has, such as crm/find, or a system tool."),
  arguments: jsonObject.default({}),
});

const ruleSchema = z.strictObject({
  when: whenSchema.optional().describe(
    "All conditions must hold. Omitted: the rule always applies.",
  ),
  reasoning: text.optional().describe("Streamed before the answer, as models that reason do."),
  say: text.optional().describe("The text of the answer. Without a call it may end the task."),
  call: z.array(callSchema).min(1).optional().describe("Tools to call, in parallel."),
  output: jsonValue.optional().describe(
    "Ends the task with this result, by calling complete_task.",
  ),
});

/** The rules of `agents/<slug>.script.yaml`. The first one that applies answers. */
export type ScriptFile = z.infer<typeof scriptFileSchema>;
/** See {@linkcode ScriptFile}. */
export const scriptFileSchema = z.array(ruleSchema).min(1, "needs at least one rule");
