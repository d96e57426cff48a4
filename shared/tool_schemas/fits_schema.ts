import { type Schema, type SchemaDraft, Validator } from "@cfworker/json-schema";
import type { JsonObject, JsonValue } from "../json.ts";

/** Whether a value is valid; also false when the schema itself cannot be used. */
export function fitsSchema(value: JsonValue, schema: JsonObject): boolean {
  try {
    return new Validator(schema as Schema, draftOf(schema), true).validate(value).valid;
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
