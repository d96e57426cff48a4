import { type OutputUnit, type SchemaDraft, Validator } from "../../vendor/cfworker_json_schema.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../platform/values/json.ts";
import { lazily } from "../../platform/values/lazily.ts";
import { type MeteredSchema, meterSchema, toOwnFormat } from "./metered_schema.ts";
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

/** Objects with more or longer names cost steps each time their names are iterated. */
const MANY_NAMES = 200;
const MANY_CHARACTERS = 4_000;
/** Pairwise comparison of fewer items costs nothing. */
const MANY_ITEMS = 300;

/** Facts about a value before it is validated. */
interface MeteredValue {
  /** The value itself, unless it contains an object that costs steps. */
  readonly value: JsonValue;
  /** Values in it, itself included. */
  readonly count: number;
}

/** The expensive features of a schema. */
interface ValueCosts {
  /** It may apply several schemas to one object. */
  readonly paysForNames: boolean;
  /** It may compare the items of an array pairwise. */
  readonly paysForItems: boolean;
}

/**
 * Counts a value and makes its wide objects cost steps: the validator iterates all names of an
 * object once for each schema that it applies to it. In long arrays each visited item costs a step.
 *
 * @throws StepsSpentError
 */
function meterValue(
  value: JsonValue,
  budget: StepBudget,
  { paysForNames, paysForItems }: ValueCosts,
): MeteredValue {
  let count = 0;
  return { value: copy(value), count };

  function copy(source: JsonValue): JsonValue {
    count++;
    budget.spend(1 / 3);
    if (Array.isArray(source)) {
      let copies: JsonValue[] | null = null;
      for (const [index, item] of source.entries()) {
        const own = copy(item);
        if (own !== item) (copies ??= [...source])[index] = own;
      }
      return paysForItems && source.length > MANY_ITEMS
        ? payingItems(copies ?? source)
        : copies ?? source;
    }
    return isJsonObject(source) ? copyObject(source) : source;
  }

  function copyObject(source: JsonObject): JsonObject {
    const names = Object.keys(source);
    let characters = 0;
    const changed: [string, JsonValue][] = [];
    for (const name of names) {
      characters += name.length;
      const item = source[name] ?? null;
      const own = copy(item);
      if (own !== item) changed.push([name, own]);
    }
    const whole = changed.length === 0
      ? source
      : Object.fromEntries([...Object.entries(source), ...changed]);
    const isWide = names.length > MANY_NAMES || characters > MANY_CHARACTERS;
    return isWide && paysForNames ? paying(whole, names.length + characters / 100) : whole;
  }

  function payingItems(array: readonly JsonValue[]): readonly JsonValue[] {
    return new Proxy(array, {
      get(target, place) {
        budget.spend(1 / 5);
        return Reflect.get(target, place);
      },
    });
  }

  function paying(object: JsonObject, steps: number): JsonObject {
    return new Proxy(object, {
      ownKeys(target) {
        budget.spend(steps);
        return Reflect.ownKeys(target);
      },
    });
  }
}

/**
 * Whether an array anywhere in a value repeats an item. Takes one pass over the value.
 *
 * @throws StepsSpentError
 */
function repeatsItems(value: JsonValue, budget: StepBudget): boolean {
  // Not as strings like the forms: to build and hash one for each of many scalars takes long.
  const scalars = new Map<JsonValue, number>();
  const forms = new Map<string, number>();
  let repeats = false;
  numberOf(value);
  return repeats;

  /** Equal values get the same number. */
  function numberOf(item: JsonValue): number {
    budget.spend(1 / 3);
    if (Array.isArray(item)) return numberIn(forms, formOfArray(item));
    return isJsonObject(item) ? numberIn(forms, formOfObject(item)) : numberIn(scalars, item);
  }

  function numberIn<Key>(numbers: Map<Key, number>, key: Key): number {
    const known = numbers.get(key);
    if (known !== undefined) return known;
    const next = scalars.size + forms.size;
    numbers.set(key, next);
    return next;
  }

  function formOfArray(array: readonly JsonValue[]): string {
    const items = array.map(numberOf);
    repeats ||= new Set(items).size < items.length;
    return `[${items.join()}`;
  }

  function formOfObject(object: JsonObject): string {
    const members = Object.keys(object).sort()
      .map((name) => `${JSON.stringify(name)}:${numberOf(object[name] ?? null)}`);
    return `{${members.join()}`;
  }
}
