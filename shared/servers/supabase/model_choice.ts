import { z } from "../../vendor/zod.js";

/** The arguments with which a caller names the model of a tool. */
export const modelChoice = {
  llm_provider: z.string().min(1).max(100).optional()
    .describe("Name of a model provider that the tool supports"),
  llm_model: z.string().min(1).max(200).optional().describe("A model of that provider"),
} as const;

/** The model that the caller named. */
export interface ModelChoice {
  readonly llm_provider?: string | undefined;
  readonly llm_model?: string | undefined;
}
