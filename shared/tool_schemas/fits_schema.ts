import type { JsonObject, JsonValue } from "../json.ts";
import { type Schema, type SchemaDraft, Validator } from "../vendor/cfworker_json_schema.js";
import { withoutCostlyPatterns } from "./without_costly_patterns.ts";

/**
 * Whether a value is valid, but for patterns that would take long to match; also false when the
 * schema itself cannot be used.
 */
export function fitsSchema(value: JsonValue, schema: JsonObject): boolean {
  try {
    const checked = withoutCostlyPatterns(schema, value) as Schema;
    return new Validator(checked, draftOf(schema), true).validate(value).valid;
  } catch {
    // For example a remote reference, or a foreign regular expression.
    return false;
  }
}

/** The draft of JSON Schema that a document says it is written in. @default 2020-12 */
export function draftOf(schema: JsonObject): SchemaDraft {
  const dialect = typeof schema.$schema === "string" ? schema.$schema : "";
  if (dialect.includes("draft-04")) return "4";
  if (dialect.includes("draft-06") || dialect.includes("draft-07")) return "7";
  if (dialect.includes("2019-09")) return "2019-09";
  return "2020-12";
}
