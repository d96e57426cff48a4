import { z } from "../../vendor/zod.js";
import { modelChoice } from "./model_choice.ts";
import { toolError } from "./tool_failure.ts";

/** Arguments of `generate_sql`. */
export const generationRequest = z.strictObject({
  prompt: z.string().min(1).max(20_000).describe("Natural language query description"),
  ...modelChoice,
  use_context: z.boolean().default(true)
    .describe("Give the model the schema and the learned context"),
  max_retries: z.int().min(1).max(5).default(3)
    .describe("Maximum number of model calls"),
});

/** Parsed arguments of `generate_sql`. */
export type GenerationRequest = z.output<typeof generationRequest>;

const attemptSchema = z.object({
  attempt: z.int(),
  sql: z.string().nullable(),
  error: z.string().nullable(),
});

/** One attempt: the model call and its outcome. */
export type GenerationAttempt = z.infer<typeof attemptSchema>;

/** The result of `generate_sql`, including errors, because some clients validate those as well. */
export const generationAnswer = z.object({
  sql: z.string().nullable().describe("The statement; in an error, the last one tried"),
  statement_class: z.enum(["read", "write", "ddl", "forbidden", "multi", "invalid"]).nullable(),
  tables: z.array(z.string()).optional(),
  total_cost: z.number().nullable().optional(),
  estimated_rows: z.number().nullable().optional(),
  warnings: z.array(z.string()).optional(),
  attempts: z.array(attemptSchema).describe("The attempts, in order"),
  error: toolError.optional(),
});

/** The structured content of an answer. */
export type GenerationAnswer = z.input<typeof generationAnswer>;
