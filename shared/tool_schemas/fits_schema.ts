import type { JsonObject, JsonValue } from "../json.ts";
import type { StepBudget } from "./step_budget.ts";
import { validateValue } from "./validate_value.ts";

/**
 * Whether a value is valid, but for patterns that would take long to match; also false when that
 * cannot be decided, because of the schema or in a bounded number of steps.
 */
export function fitsSchema(value: JsonValue, schema: JsonObject, budget?: StepBudget): boolean {
  return validateValue(value, schema, budget).kind === "valid";
}
