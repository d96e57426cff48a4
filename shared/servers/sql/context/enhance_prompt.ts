import { FENCE_RULE, fenceData } from "../../../gateway/tool_contracts/fence_data.ts";
import type { ChosenContext } from "./choose_context.ts";

/** Rules for common mistakes of models in PostgreSQL. */
const DIALECT_NOTES = `- Write one PostgreSQL statement, with literal values instead of $1.
- Copy names as the schema writes them, with their double quotes; texts have single ones.
- Cast with value::type; dates are shifted with interval '7 days' and cut with date_trunc('month', at).
- PostgreSQL has no year(), datediff(), strftime(), ifnull() or top: use extract(), subtraction, to_char(), coalesce() and limit.
- A column beside an aggregate stands in group by; integers divide to integers, so cast one to numeric.`;

/** The question with the database context, under fixed headings. */
export function enhancePrompt(question: string, context: ChosenContext): string {
  const { schema, overview, patterns, fixes, insights, modelNotes, leftOut } = context;
  const hidden = leftOut.tables === 0
    ? ""
    : `\n(${leftOut.tables} more tables are not shown because the question does not seem to need them.)`;
  return [
    "# Database Context",
    fenceData(schema === "" ? "(no tables are visible to this user)" : schema, "schema") + hidden,
    FENCE_RULE,
    overview,
    part("## Dialect Notes", [DIALECT_NOTES]),
    part("## Query Optimization Insights", insights),
    part("## Model Performance Notes", modelNotes),
    "# Successful Query Patterns",
    patterns.length === 0 ? "(none is known)" : patterns.join("\n\n"),
    "# Common Error Fixes",
    fixes.length === 0 ? "(none is known)" : fixes.join("\n\n"),
    "# User Request",
    question,
  ].filter((text) => text !== "").join("\n\n").trim();
}

function part(heading: string, texts: readonly string[]): string {
  return texts.length === 0 ? "" : `${heading}\n${texts.join("\n\n")}`;
}
