import { format, type OutputUnit, type Schema } from "../../vendor/cfworker_json_schema.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../platform/values/json.ts";
import { compilePattern, type LinearPattern } from "./linear_pattern.ts";
import { DATA_KEYWORDS } from "./schema_keywords.ts";
import { PatternError } from "./pattern_token.ts";
import { StepBudget, StepsSpentError } from "./step_budget.ts";

/** A schema that counts the steps of its own validation. */
export interface MeteredSchema {
  readonly schema: Schema;
  /** Whether it may apply more than one schema to the same value. */
  readonly appliesSeveral: boolean;
  /** Runs a validation with the schema's formats, each of which is counted. */
  withFormats<T>(budget: StepBudget, validate: () => T): T;
}

/** The steps for compiling all patterns of a schema, which happens once: about 150 ms. */
const MAX_COMPILE_STEPS = 100_000;
/** Matches nothing, like `false`, but each visit can be counted. */
const NOTHING: JsonObject = { enum: [] };
/** The cost of a mismatch, which becomes a message. */
const REFUSAL_STEPS = 4;
/** Keywords whose value may be `true` or `false` in place of a schema. */
const MAY_BE_BOOLEAN: ReadonlySet<string> = new Set([
  ...["additionalItems", "additionalProperties", "contains", "else", "if", "items", "not"],
  ...["propertyNames", "then", "unevaluatedItems", "unevaluatedProperties"],
]);
/** Keywords that apply a schema to the value that they stand at. */
const IN_PLACE: ReadonlySet<string> = new Set([
  ...["$ref", "$recursiveRef", "allOf", "anyOf", "dependencies", "dependentSchemas"],
  ...["if", "not", "oneOf", "patternProperties", "unevaluatedProperties"],
]);
const LISTS: ReadonlySet<string> = new Set(["allOf", "anyOf", "items", "oneOf", "prefixItems"]);
const MAPS: ReadonlySet<string> = new Set([
  ...["$defs", "definitions", "dependencies", "dependentSchemas"],
  ...["patternProperties", "properties"],
]);

/**
 * A copy of a schema for the validator, which has no limits of its own. The validator reads `$ref`
 * of each schema that it applies to a value, so a getter there counts every visit. Formats and
 * patterns cost steps in proportion to the text's length.
 *
 * @throws PatternError, StepsSpentError if a pattern cannot be checked in bounded time.
 */
export function meterSchema(source: JsonObject): MeteredSchema {
  const current: { budget: StepBudget | null } = { budget: null };
  const spend = (steps: number) => current.budget?.spend(steps);
  const formats = new Map<string, (text: string) => boolean>();
  const compiling = new StepBudget(MAX_COMPILE_STEPS);
  let appliesSeveral = false;
  const schema = copySchema(source) as Schema;
  return { schema, appliesSeveral, withFormats };

  function copySchema(schema: JsonObject): JsonObject {
    appliesSeveral ||= Object.keys(schema).some((keyword) => IN_PLACE.has(keyword));
    const copy: Record<string, JsonValue> = Object.fromEntries(
      Object.entries(schema).map(([keyword, value]) => [keyword, copyKeyword(keyword, value)]),
    );
    const paid = paidFormat(schema);
    if (paid !== null) copy.format = paid;
    if (typeof schema.pattern === "string") addPattern(schema.pattern);
    if (isJsonObject(schema.patternProperties)) {
      Object.keys(schema.patternProperties).forEach(addPattern);
    }
    return visited(copy, visitSteps(schema));
  }

  function copyKeyword(keyword: string, value: JsonValue): JsonValue {
    if (DATA_KEYWORDS.has(keyword)) return value;
    if (Array.isArray(value)) {
      return LISTS.has(keyword) ? value.map((item: JsonValue) => copyPlace(item)) : value;
    }
    if (MAPS.has(keyword) && isJsonObject(value)) {
      return Object.fromEntries(
        Object.entries(value).map(([name, item]) => [name, copyPlace(item)]),
      );
    }
    return MAY_BE_BOOLEAN.has(keyword) || isJsonObject(value) ? copyPlace(value) : value;
  }

  function copyPlace(value: JsonValue): JsonValue {
    if (value === true) return visited({}, 1);
    if (value === false) return visited({ ...NOTHING }, REFUSAL_STEPS);
    return isJsonObject(value) ? copySchema(value) : value;
  }

  function visited(copy: JsonObject, steps: number): JsonObject {
    const reference = copy.$ref;
    return Object.defineProperty(copy, "$ref", {
      enumerable: Object.hasOwn(copy, "$ref"),
      get: () => {
        spend(steps);
        return reference;
      },
    });
  }

  /** The name under which a schema's format is counted; null if it has none. */
  function paidFormat({ format: named }: JsonObject): string | null {
    if (typeof named !== "string" || !Object.hasOwn(format, named)) return null;
    const name = `${named}\n`;
    formats.set(name, (text) => {
      spend(1 + Math.floor(text.length / 20));
      return fitsFormat(text, named);
    });
    return name;
  }

  /** The validator matches a pattern by calling the format of this name, which is patched into it. */
  function addPattern(source: string): void {
    const name = `pattern\n${source}`;
    if (formats.has(name)) return;
    const pattern = compileNamed(source, compiling);
    formats.set(name, (text) => current.budget === null || pattern.test(text, current.budget));
  }

  function withFormats<T>(budget: StepBudget, validate: () => T): T {
    current.budget = budget;
    for (const [name, fits] of formats) format[name] = fits;
    try {
      return validate();
    } finally {
      for (const name of formats.keys()) delete format[name];
      current.budget = null;
    }
  }
}

/** Whether a problem means that no value is allowed at its place, as with the schema `false`. */
export function isNothing({ keyword, error }: Pick<OutputUnit, "keyword" | "error">): boolean {
  return keyword === "enum" && error.endsWith("any of [].");
}

/** Restores the original format name in a message about {@linkcode meterSchema}'s copy. */
export function toOwnFormat(message: string): string {
  return message.replace(/\n[^]*"/, '"');
}

function compileNamed(source: string, budget: StepBudget): LinearPattern {
  try {
    return compilePattern(source, budget);
  } catch (error) {
    if (error instanceof StepsSpentError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new PatternError(
      `the pattern ${JSON.stringify(source.slice(0, 60))} is unusable: ${reason}`,
    );
  }
}

/** In addition to the visit itself: the iterated names and compared values. */
function visitSteps(schema: JsonObject): number {
  const { properties, required, dependentRequired, dependencies } = schema;
  const listed = [schema.enum, schema.const].filter((value) => value !== undefined);
  const names = [properties, required, dependentRequired, dependencies].reduce<number>(
    (sum, value) => sum + (isJsonObject(value) ? Object.keys(value).length / 8 : lengthOf(value)),
    0,
  );
  const characters = listed.length === 0 ? 0 : JSON.stringify(listed).length;
  return 1 + Math.floor(names) + Math.floor(characters / 100);
}

function lengthOf(value: JsonValue | undefined): number {
  return Array.isArray(value) ? value.length : 0;
}

function fitsFormat(text: string, name: string): boolean {
  // The validator's own pattern has no time bound.
  if (name === "url") return /^(?:https?|ftp):\/\/\S+$/i.test(text) && URL.canParse(text);
  return format[name]?.(text) ?? true;
}
