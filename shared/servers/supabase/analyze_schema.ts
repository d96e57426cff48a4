import { FENCE_RULE, fenceData } from "../../gateway/tool_contracts/fence_data.ts";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import { isTable, primaryKeyOf } from "../sql/schema/database_schema.ts";
import { quoteName, sqlName } from "../sql/schema/quote_name.ts";
import { relationshipsOf } from "../sql/schema/schema_relationships.ts";
import type { ToolContext } from "../../gateway/tool_contracts/internal_server.ts";
import type { ModelChoice } from "./model_choice.ts";
import { keepAnalysis, type KnownSchema, type SchemaAnalysis } from "./schema_cache.ts";

/** A model's analysis of a schema, or the reason why there is none. */
export type AnalysisOutcome =
  | { readonly kind: "analyzed"; readonly analysis: SchemaAnalysis }
  | { readonly kind: "none"; readonly reason: string };

const SYSTEM_PROMPT = "You are a database schema expert. Provide clear, structured analysis.";
const TEMPERATURE = 0.1;
/** Maximum length of the schema in the prompt, because the model's context is limited. */
const MAX_SCHEMA_CHARACTERS = 60_000;
/** Includes the reasoning of models that reason by default. */
const MAX_OUTPUT_TOKENS = 8_000;
/** Limits the wait: the schema itself is more important than its analysis. */
const MODEL_TIMEOUT_MS = 45_000;

/**
 * A model's analysis of the schema: an earlier one of the same structure by the same model,
 * otherwise a new one. A failed model call is not an error, because the schema is useful without an
 * analysis.
 */
export async function analyzeSchema(
  context: ToolContext,
  known: KnownSchema,
  { llm_provider: provider, llm_model: model }: ModelChoice,
): Promise<AnalysisOutcome> {
  const { analysis } = known;
  if (
    analysis !== null && (provider ?? analysis.provider) === analysis.provider &&
    (model ?? analysis.model) === analysis.model
  ) {
    return { kind: "analyzed", analysis };
  }
  try {
    const answer = await context.callModel({
      provider,
      model,
      system: `${SYSTEM_PROMPT}\n${FENCE_RULE}`,
      messages: [{
        role: "user",
        text: "Analyze this database schema and provide insights:\n" +
          fenceData(describe(known), "database schema"),
      }],
      temperature: TEMPERATURE,
      maxOutputTokens: MAX_OUTPUT_TOKENS,
      timeoutMs: MODEL_TIMEOUT_MS,
    });
    const made = { text: answer.text, provider: answer.provider, model: answer.model };
    await keepAnalysis(context, known, made);
    return { kind: "analyzed", analysis: made };
  } catch (error) {
    context.signal.throwIfAborted();
    if (!(error instanceof SwarmError)) throw error;
    if (error.code === "TOOL_ARGUMENTS_INVALID" || error.code === "PROVIDER_NOT_FOUND") throw error;
    return {
      kind: "none",
      reason: `No model has analyzed this schema: ${error.message} (${error.code}).`,
    };
  }
}

/** One line per table: columns with types and keys, then the relationships. */
function describe({ schema }: KnownSchema): string {
  const lines = [
    ...schema.relations.map((relation) => {
      const keys = primaryKeyOf(relation);
      const columns = relation.columns.map(({ name, type, is_nullable }) =>
        `${quoteName(name)} ${type}${keys.includes(name) ? " key" : ""}${
          is_nullable ? "" : " not null"
        }`
      );
      const remark = relation.comment === null
        ? ""
        : ` -- ${relation.comment.replace(/\s+/g, " ")}`;
      const security = isTable(relation) && !relation.has_row_security ? " without RLS" : "";
      return `${relation.kind} ${sqlName(relation)}${security} (${columns.join(", ")})${remark}`;
    }),
    ...relationshipsOf(schema).map(({ from, columns, to, cardinality }) =>
      `${from} (${columns.join(", ")}) ${cardinality} ${to}`
    ),
  ];
  return withinBudget(lines).join("\n");
}

function withinBudget(lines: readonly string[]): string[] {
  let characters = 0;
  const kept = lines.filter((line) => (characters += line.length + 1) <= MAX_SCHEMA_CHARACTERS);
  const left = lines.length - kept.length;
  return left === 0 ? kept : [...kept, `(${left} more lines are left out)`];
}
