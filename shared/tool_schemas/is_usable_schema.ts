import type { JsonObject } from "../json.ts";
import { MAX_SCHEMA_CHARACTERS } from "./function_definition.ts";
import { validateValue } from "./validate_value.ts";

/** True if values can be checked against the schema and the schema can be sent to models. */
export function isUsableSchema(schema: JsonObject): boolean {
  if (JSON.stringify(schema).length > MAX_SCHEMA_CHARACTERS) return false;
  return [null, "", 0, [], {}].every((value) => validateValue(value, schema).kind !== "undecided");
}
