import type { Json, JsonSchema } from "../../../client/mod.ts";
import type { JsonObject, JsonValue } from "../../../shared/platform/values/json.ts";
import { validateValue } from "../../../shared/models/tool_schemas/validate_value.ts";

/** A part of a value that does not match its schema. */
export interface ValueProblem {
  /** JSON pointer to the part, empty for the whole value. */
  readonly path: string;
  readonly message: string;
}

/** Keywords whose problem the problems of their parts describe in more detail. */
const SUMMARIES = new Set(["properties", "items", "allOf", "$ref", "additionalProperties"]);
const MAX_PROBLEMS = 20;

/**
 * The problems of a value, as the gateway will report them, in a bounded number of steps for any
 * pattern in a foreign schema. Undecidable parts are left to the tool.
 */
export function valueProblems(schema: JsonSchema, value: Json): ValueProblem[] {
  if (schema === true) return [];
  const rules = schema === false ? { not: {} } : schema;
  const validation = validateValue(value as JsonValue, rules as JsonObject);
  if (validation.kind !== "invalid") return [];
  const { errors } = validation;
  const details = errors.filter(({ keyword }) => !SUMMARIES.has(keyword));
  return (details.length > 0 ? details : errors).slice(0, MAX_PROBLEMS).map(
    ({ instanceLocation, error }) => ({
      path: decodeURI(instanceLocation.replace(/^#/, "")),
      message: error,
    }),
  );
}

/** The first variant that a value matches; null if it matches none. */
export function fittingVariant(
  variants: readonly JsonSchema[],
  root: JsonSchema,
  value: Json | undefined,
): number | null {
  if (value === undefined) return null;
  const definitions = typeof root === "object" ? root : {};
  const at = variants.findIndex((variant) => {
    if (typeof variant === "boolean") return variant;
    const { $defs, definitions: older } = definitions as { $defs?: unknown; definitions?: unknown };
    const whole = {
      ...($defs ? { $defs } : {}),
      ...(older ? { definitions: older } : {}),
      ...variant,
    };
    return valueProblems(whole, value).length === 0;
  });
  return at < 0 ? null : at;
}
