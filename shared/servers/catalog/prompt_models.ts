import type { ToolModelAnswer } from "../../gateway/tool_contracts/tool_model.ts";
import { z } from "../../vendor/zod.js";

/** Maximum length of a prompt for a model. */
export const MAX_PROMPT_CHARACTERS = 50_000;

/** How a caller chooses the model; the tool's row in `mcp_tool_models` lists the providers. */
export const promptModelChoice = {
  model: z.string().min(1).max(200).optional(),
  llm_provider: z.string().min(1).max(63).optional().describe("A key from list_providers"),
};

/** The usage of model calls. */
export const usageSchema = z.object({
  tokens: z.int().describe("Input and output"),
  model: z.string(),
  provider: z.string(),
  key_source: z.enum(["user", "organisation", "none"]).describe("Whose key was charged"),
});

/** The combined usage of several calls; the model is that of the last one. */
export function usageOf(answers: readonly ToolModelAnswer[]): z.infer<typeof usageSchema> {
  const last = answers.at(-1);
  if (last === undefined) throw new Error("Cannot report the usage: no model was called");
  const { model, provider, keySource } = last;
  const tokens = answers.reduce((sum, answer) => sum + answer.inputTokens + answer.outputTokens, 0);
  return { tokens, model, provider, key_source: keySource };
}
