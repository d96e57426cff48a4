import { z } from "../../vendor/zod.js";
import { modelChoice } from "./model_choice.ts";
import { toolError } from "./tool_failure.ts";

/** Arguments of `generate_sql`. */
export const generationRequest = z.strictObject({
  prompt: z.string().min(1).max(20_000).describe("Natural language query description"),
  ...modelChoice,
  use_context: z.boolean().default(true)
    .describe("Show the model the schema and what was learned before"),
  max_retries: z.int().min(1).max(5).default(3)
    .describe("How often the model is asked before the tool gives up"),
});

/** Parsed arguments of `generate_sql`. */
export type GenerationRequest = z.output<typeof generationRequest>;

const attemptSchema = z.object({
  attempt: z.int(),
  sql: z.string().nullable(),
  error: z.string().nullable(),
});

/** One question to the model and what came of it. */
export type GenerationAttempt = z.infer<typeof attemptSchema>;

/** What `generate_sql` answers, errors included: some clients hold those to the schema as well. */
export const generationAnswer = z.object({
  sql: z.string().nullable().describe("The statement; of an error the last one that was tried"),
  statement_class: z.enum(["read", "write", "ddl", "forbidden", "multi", "invalid"]).nullable(),
  tables: z.array(z.string()).optional(),
  total_cost: z.number().nullable().optional(),
  estimated_rows: z.number().nullable().optional(),
  warnings: z.array(z.string()).optional(),
  attempts: z.array(attemptSchema).describe("What was tried, in order"),
  error: toolError.optional(),
});

/** The structured content of an answer. */
export type GenerationAnswer = z.input<typeof generationAnswer>;
