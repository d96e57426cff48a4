import { isJsonObject, type JsonObject } from "../../../../shared/platform/values/json.ts";
import {
  findSchemaProblems,
  schemaProblemText,
} from "../../../../shared/models/tool_schemas/schema_problems.ts";
import type { ValueProblem } from "../../schema_form/check_value.ts";

/** Where definitions have a JSON Schema. */
const SCHEMA_FIELDS = [["input_schema"], ["output_schema"], ["config", "parameters"]];

/** Why values cannot be checked against the schemas of a definition, as a push would say. */
export function schemaFieldProblems(fields: JsonObject): ValueProblem[] {
  return SCHEMA_FIELDS.flatMap((at) => {
    const schema = at.reduce<unknown>(
      (value, key) => isJsonObject(value) ? value[key] : undefined,
      fields,
    );
    if (!isJsonObject(schema)) return [];
    return findSchemaProblems(schema).map((problem) => ({
      path: `/${at.join("/")}`,
      message: schemaProblemText(at.join("."), problem),
    }));
  });
}
