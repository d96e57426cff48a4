import type { JsonObject, JsonValue } from "../../platform/values/json.ts";
import type { StepBudget } from "./step_budget.ts";
import { validateValue } from "./validate_value.ts";

/**
 * Whether a value is valid. Also false if this cannot be decided because of the schema or the step
 * limit.
 */
export function fitsSchema(value: JsonValue, schema: JsonObject, budget?: StepBudget): boolean {
  return validateValue(value, schema, budget).kind === "valid";
}
