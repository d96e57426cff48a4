import type { JsonObject } from "../../platform/values/json.ts";
import {
  chooseContext,
  type ChosenContext,
  estimateContextTokens,
  fitsWhole,
} from "../sql/context/choose_context.ts";
import { enhancePrompt } from "../sql/context/enhance_prompt.ts";
import type { ToolContext } from "../../gateway/tool_contracts/internal_server.ts";
import { knowContext } from "./known_context.ts";
import { orderTables } from "./order_tables.ts";
import { knowTables } from "./known_tables.ts";
import type { SqlSettings } from "./sql_settings.ts";

/** The prompt for a question, and its description in `_meta`. */
export interface GenerationPrompt {
  readonly text: string;
  readonly meta: JsonObject;
}

/** Builds the prompt: the question with the database's schema and the learned context. */
export async function contextualPrompt(
  question: string,
  context: ToolContext,
  settings: SqlSettings,
): Promise<GenerationPrompt> {
  const [{ index }, { version, context: learned }] = await Promise.all([
    knowTables(context, settings),
    knowContext(context.sql, settings.context_version),
  ]);
  const order = fitsWhole(index) ? null : await orderTables(question, index, context);
  const chosen = chooseContext(question, index, learned, order?.ranked);
  const text = enhancePrompt(question, chosen);
  const meta = { ...describe(chosen, version, text), embedder: order?.embedder ?? null };
  return { text, meta };
}

function describe(chosen: ChosenContext, version: number | null, text: string): JsonObject {
  const { tables, isWholeSchema, patterns, fixes, insights, modelNotes, leftOut } = chosen;
  return {
    version,
    prompt_tokens: estimateContextTokens(text),
    tables: [...tables],
    is_whole_schema: isWholeSchema,
    patterns: patterns.length,
    fixes: fixes.length,
    insights: insights.length,
    model_notes: modelNotes.length,
    left_out: { ...leftOut },
  };
}
