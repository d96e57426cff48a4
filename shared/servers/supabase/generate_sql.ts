import { textBlock } from "../../platform/values/content_block.ts";
import { definedOnly } from "../../platform/values/defined_only.ts";
import { type ErrorCode, traitsOf } from "../../platform/errors/codes.ts";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import type { JsonObject } from "../../platform/values/json.ts";
import type { ModelMessage } from "../../models/llm/model_port.ts";
import {
  defineTool,
  reply,
  type ToolContext,
  type ToolReply,
} from "../../gateway/tool_contracts/internal_server.ts";
import type { ToolModelAnswer } from "../../gateway/tool_contracts/tool_model.ts";
import { assertHasUser } from "./assert_has_user.ts";
import { contextualPrompt, type GenerationPrompt } from "./generation_context.ts";
import { withHint } from "../../platform/errors/with_hint.ts";
import { READ_SCOPES } from "./sql_scopes.ts";
import { readSqlSettings, type SqlSettings } from "./sql_settings.ts";
import { type InvalidSql, validateSql, type ValidSql } from "./validate_sql.ts";
import { z } from "../../vendor/zod.js";
import { modelChoice } from "./model_choice.ts";
import { toolError } from "./tool_failure.ts";

/** Arguments of `generate_sql`. */
const generationRequest = z.strictObject({
  prompt: z.string().min(1).max(20_000).describe("Natural language query description"),
  ...modelChoice,
  use_context: z.boolean().default(true)
    .describe("Give the model the schema and the learned context"),
  max_retries: z.int().min(1).max(5).default(3)
    .describe("Maximum number of model calls"),
});

/** Parsed arguments of `generate_sql`. */
type GenerationRequest = z.output<typeof generationRequest>;

const attemptSchema = z.object({
  attempt: z.int(),
  sql: z.string().nullable(),
  error: z.string().nullable(),
});

/** One attempt: the model call and its outcome. */
type GenerationAttempt = z.infer<typeof attemptSchema>;

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
type GenerationAnswer = z.input<typeof generationAnswer>;

const SYSTEM_PROMPT = "You are an expert SQL generator. Return only valid, executable SQL.";
/** Low, for consistent SQL. */
const TEMPERATURE = 0.2;

/**
 * Writes a statement for a question, and returns only one that PostgreSQL can plan for the caller.
 */
export const generateSqlTool = defineTool({
  name: "generate_sql",
  title: "Generate SQL",
  description:
    "Converts a question in natural language to one SQL statement, using what was learned from " +
    "earlier questions. The statement is checked like those of execute_sql and planned as the " +
    "caller, but not run. Pass it to execute_sql.",
  version: "1",
  scopes: READ_SCOPES,
  annotations: {
    readOnlyHint: true,
    destructiveHint: false,
    idempotentHint: false,
    openWorldHint: true,
  },
  input: generationRequest,
  output: generationAnswer,
  async run(request, context) {
    assertHasUser(context, "write SQL");
    const settings = await readSqlSettings(context.sql);
    const prompt = request.use_context
      ? await contextualPrompt(request.prompt, context, settings)
      : { text: request.prompt, meta: null };
    return await generate({ request, context, settings, prompt });
  },
});

interface Generation {
  readonly request: GenerationRequest;
  readonly context: ToolContext;
  readonly settings: SqlSettings;
  readonly prompt: Pick<GenerationPrompt, "text"> & { readonly meta: JsonObject | null };
}

/** The reason why an attempt failed. */
interface Setback {
  readonly code: ErrorCode;
  readonly error: string;
  readonly sql: string | null;
  readonly statementClass: InvalidSql["statementClass"] | null;
}

/** All attempts of a generation so far. */
class Attempts {
  readonly list: GenerationAttempt[] = [];
  last: Setback | null = null;
  /** The last statement, even if a later attempt produced none. */
  lastSql: string | null = null;
  answer: ToolModelAnswer | null = null;

  fail(setback: Setback): void {
    const { sql, error } = setback;
    this.list.push({ attempt: this.list.length + 1, sql, error });
    this.last = setback;
    this.lastSql = sql ?? this.lastSql;
  }
}

async function generate(generation: Generation): Promise<ToolReply> {
  const { request: { max_retries: maxRetries }, context, prompt, settings } = generation;
  const messages: ModelMessage[] = [{ role: "user", text: prompt.text }];
  const attempts = new Attempts();
  while (attempts.list.length < maxRetries) {
    context.progress(attempts.list.length, maxRetries, "Asking the model");
    const asked = await ask(generation, messages, attempts);
    if (asked instanceof SwarmError) return gaveUp(generation, attempts, asked);
    if (asked === null) continue;
    const sql = extractSql(asked.text);
    if (sql === attempts.lastSql && attempts.last !== null) {
      // The model repeats itself, so the next error would be the same.
      attempts.fail({ ...attempts.last, sql });
      break;
    }
    const validation = await validateSql(sql, context, settings);
    if (validation.valid) return succeeded(generation, attempts, asked, validation);
    attempts.fail({ ...validation, sql });
    messages.push(
      { role: "assistant", text: sql, tool_calls: [] },
      {
        role: "user",
        text: withHint(`Previous attempt failed: ${validation.error}`, "Please fix and try again."),
      },
    );
  }
  return exceeded(generation, attempts);
}

/** The model's answer; null for a failure that is retried; an error ends the tool. */
async function ask(
  { request, context }: Generation,
  messages: readonly ModelMessage[],
  attempts: Attempts,
): Promise<ToolModelAnswer | SwarmError | null> {
  const { llm_provider: provider, llm_model: model } = request;
  try {
    attempts.answer = await context.callModel({
      provider,
      model,
      system: SYSTEM_PROMPT,
      messages,
      temperature: TEMPERATURE,
    });
    return attempts.answer;
  } catch (error) {
    context.signal.throwIfAborted();
    if (!(error instanceof SwarmError)) throw error;
    const { type, retryable: isRetryable } = traitsOf(error.code);
    // A slow model is not called again, because that would exceed the call's time limit.
    if (!isRetryable || type === "llm_timeout" || error.code === "DATABASE_UNAVAILABLE") {
      return error;
    }
    attempts.fail({ code: error.code, error: error.message, sql: null, statementClass: null });
    return null;
  }
}

function succeeded(
  generation: Generation,
  { list }: Attempts,
  { provider, model }: ToolModelAnswer,
  validation: ValidSql,
): ToolReply {
  const { sql, statementClass, tables, totalCost, estimatedRows, warnings } = validation;
  const attempt = list.length + 1;
  const judged = {
    statement_class: statementClass,
    tables: [...tables],
    total_cost: totalCost,
    estimated_rows: estimatedRows,
    warnings: [...warnings],
  };
  const answer: GenerationAnswer = {
    sql,
    ...judged,
    attempts: [...list, { attempt, sql, error: null }],
  };
  return reply([textBlock(`\`\`\`sql\n${sql}\n\`\`\``)], {
    structured: answer as JsonObject,
    meta: {
      provider_used: provider,
      model_used: model,
      attempt,
      ...contextMeta(generation),
      validation: { valid: true, ...judged },
    },
  });
}

function exceeded(generation: Generation, attempts: Attempts): ToolReply {
  const { list, last, lastSql } = attempts;
  const lastError = last?.error ?? "the model returned no statement";
  const error = new SwarmError(
    "EXCEEDED_RETRIES",
    `SQL generation failed after ${list.length} attempts: ${lastError}`,
    {
      hint: "Edit last_sql and run it with execute_sql, or ask in other words.",
      details: {
        reason: "generation",
        error_code: last?.code ?? "MODEL_OUTPUT_INVALID",
        last_sql: lastSql,
        last_error: lastError,
        attempts: list.map((attempt) => ({ ...attempt })),
      },
    },
  );
  return failed(generation, attempts, error);
}

/** A failure that a retry cannot fix keeps its own code. */
function gaveUp(generation: Generation, attempts: Attempts, error: SwarmError): ToolReply {
  if (attempts.list.length === 0) throw error;
  const { list, lastSql } = attempts;
  const details = { last_sql: lastSql, attempts: list.map((attempt) => ({ ...attempt })) };
  return failed(
    generation,
    attempts,
    new SwarmError(error.code, error.message, {
      cause: error,
      ...definedOnly({ hint: error.hint }),
      details,
    }),
  );
}

function failed(generation: Generation, attempts: Attempts, error: SwarmError): ToolReply {
  const { code, message, hint, details } = error;
  const { list, last, lastSql, answer } = attempts;
  const { request: { llm_provider, llm_model } } = generation;
  const structured: GenerationAnswer = {
    sql: lastSql,
    statement_class: last?.statementClass ?? null,
    attempts: list,
    error: { code, message, ...definedOnly({ hint }) },
  };
  return reply([textBlock(message)], {
    isError: true,
    errorCode: code,
    ...definedOnly({ hint, details }),
    structured: structured as JsonObject,
    meta: {
      attempts: list.length,
      provider_used: answer?.provider ?? llm_provider ?? null,
      model_used: answer?.model ?? llm_model ?? null,
      ...contextMeta(generation),
    },
  });
}

function contextMeta({ request, prompt }: Generation): JsonObject {
  return { context_applied: request.use_context, context: prompt.meta };
}

/** Keywords that start a statement. */
const BEGINNING =
  /^[\s(]*(select|with|insert|update|delete|merge|values|table|create|alter|drop|explain|show|truncate|grant|revoke|do|call|copy|set|begin|commit)\b/i;

/**
 * The SQL in a model's answer: the content of its first fence, otherwise everything from the first
 * line that starts like a statement. Fences and prose are removed once; the parser checks the rest.
 */
function extractSql(answer: string): string {
  const fenced = /(?:^|\n)\s*(`{3,}|~{3,})[^\n]*\n([\s\S]*?)(?:\n\s*\1|$)/.exec(answer);
  if (fenced?.[2] !== undefined) return fenced[2].trim();
  const lines = answer.split("\n");
  const start = lines.findIndex((line) => BEGINNING.test(line));
  if (start < 0) return answer.trim();
  const text = lines.slice(start).join("\n").trim();
  // Text after the end of the statement and an empty line is an explanation.
  return text.replace(/;\s*\n\s*\n[\s\S]*$/, ";").trim();
}
