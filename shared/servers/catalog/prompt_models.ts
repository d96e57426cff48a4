import type { ToolModelAnswer } from "../../tool_contracts/tool_model.ts";
import { z } from "../../vendor/zod.js";

/** Of a prompt that a model works on. */
export const MAX_PROMPT_CHARACTERS = 50_000;

/** How a caller chooses the model; the tool's row of `mcp_tool_models` names the providers. */
export const modelChoice = {
  model: z.string().min(1).max(200).optional(),
  llm_provider: z.string().min(1).max(63).optional().describe("Key of list_providers"),
};

/** What a call of models used. */
export const usageSchema = z.object({
  tokens: z.int().describe("Input and output"),
  model: z.string(),
  provider: z.string(),
  key_source: z.enum(["user", "organisation", "none"]).describe("Whose key paid"),
});

/** What several calls used together; the last one names the model. */
export function usageOf(answers: readonly ToolModelAnswer[]): z.infer<typeof usageSchema> {
  const last = answers.at(-1);
  if (last === undefined) throw new Error("No model was called");
  const { model, provider, keySource } = last;
  const tokens = answers.reduce((sum, answer) => sum + answer.inputTokens + answer.outputTokens, 0);
  return { tokens, model, provider, key_source: keySource };
}
