import { type OutputUnit, type SchemaDraft, Validator } from "../../vendor/cfworker_json_schema.js";
import type { JsonObject, JsonValue } from "../../platform/values/json.ts";
import { isJsonObject } from "../../platform/values/json.ts";
import { lazily } from "../../platform/values/lazily.ts";
import { type MeteredSchema, meterSchema, toOwnFormat } from "./metered_schema.ts";
import { meterValue } from "./metered_value.ts";
import { repeatsItems } from "./repeated_items.ts";
import { StepBudget, StepsSpentError } from "./step_budget.ts";

/** The result of a validation. */
export type Validation =
  | { readonly kind: "valid" }
  /** The validator's problems: all for a small value, the first for a large one. */
  | { readonly kind: "invalid"; readonly errors: readonly OutputUnit[] }
  /** Undecided: the schema is unusable, or the validation takes too long. */
  | { readonly kind: "undecided"; readonly reason: string };

/** A tenth of a second; a value that fills the limits of a request takes less. */
const MAX_STEPS = 70_000;
/** For a larger value only the first problem is reported. */
const MAX_EXPLAINED_VALUES = 2_000;

interface Compiled {
  readonly metered: MeteredSchema;
  /** Reports all problems. */
  readonly thorough: () => Validator;
  /** Stops as early as possible. */
  readonly brief: () => Validator;
}

const compiledSchemas = new WeakMap<JsonObject, Compiled>();

/**
 * Validates a value in a bounded number of steps. Never throws: an undecidable case is reported as
 * such, also if the schema has a pattern that cannot be matched in bounded time.
 *
 * @param budget The step limit, if several validations share it.
 */
export function validateValue(
  value: JsonValue,
  schema: JsonObject,
  budget: StepBudget = new StepBudget(MAX_STEPS),
): Validation {
  try {
    return validate(value, schema, budget);
  } catch (error) {
    return { kind: "undecided", reason: reasonOf(error) };
  }
}

function validate(value: JsonValue, schema: JsonObject, budget: StepBudget): Validation {
  const isUnique = holdsUniqueItems(schema);
  const paysForItems = isUnique && repeatsItems(value, budget);
  // If no array repeats an item, `uniqueItems` has no effect, and it is slow to check.
  const checked = isUnique && !paysForItems ? without(schema, "uniqueItems") : schema;
  const { metered: { withFormats, appliesSeveral }, thorough, brief } = compile(checked);
  const costs = { paysForNames: appliesSeveral, paysForItems };
  const { value: metered, count } = meterValue(value, budget, costs);
  const validator = count > MAX_EXPLAINED_VALUES ? brief : thorough;
  const { valid, errors } = withFormats(budget, () => validator().validate(metered));
  if (valid) return { kind: "valid" };
  return {
    kind: "invalid",
    errors: errors.map((unit) =>
      unit.keyword === "format" ? { ...unit, error: toOwnFormat(unit.error) } : unit
    ),
  };
}

function compile(schema: JsonObject): Compiled {
  const known = compiledSchemas.get(schema);
  if (known !== undefined) return known;
  const metered = meterSchema(schema);
  const draft = draftOf(schema);
  const compiled = {
    metered,
    thorough: lazily(() => new Validator(metered.schema, draft, false)),
    brief: lazily(() => new Validator(metered.schema, draft, true)),
  };
  compiledSchemas.set(schema, compiled);
  return compiled;
}

/** The JSON Schema draft that a document declares. @default 2020-12 */
function draftOf(schema: JsonObject): SchemaDraft {
  const dialect = typeof schema.$schema === "string" ? schema.$schema : "";
  if (dialect.includes("draft-04")) return "4";
  if (dialect.includes("draft-06") || dialect.includes("draft-07")) return "7";
  if (dialect.includes("2019-09")) return "2019-09";
  return "2020-12";
}

function holdsUniqueItems(value: JsonValue): boolean {
  if (typeof value !== "object" || value === null) return false;
  return isJsonObject(value) && value.uniqueItems === true ||
    Object.values(value).some(holdsUniqueItems);
}

function without(schema: JsonObject, keyword: string): JsonObject {
  const strip = (value: JsonValue): JsonValue => {
    if (Array.isArray(value)) return value.map((item: JsonValue) => strip(item));
    return isJsonObject(value) ? without(value, keyword) : value;
  };
  return Object.fromEntries(
    Object.entries(schema).filter(([name, value]) => name !== keyword || value !== true)
      .map(([name, value]) => [name, strip(value)]),
  );
}

function reasonOf(error: unknown): string {
  if (error instanceof StepsSpentError) return error.message;
  if (error instanceof RangeError) return "it is too large or infinitely recursive";
  // The validator's own code expects each keyword's value to be of its kind.
  if (error instanceof TypeError) return "the value of a keyword is not of the right type";
  if (error instanceof URIError) return "a name in it is not valid Unicode";
  return error instanceof Error ? error.message.slice(0, 200) : "the schema is unusable";
}
