import {
  describeProblems,
  findArgumentProblems,
} from "../../gateway/tools/learning/argument_problems.ts";
import {
  asJsonObject,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "../../platform/values/json.ts";

const INPUT = { root: "input", whole: "input", member: "member" };

/**
 * Why an input does not match the `input_schema` of its agent, with the paths of at most five parts;
 * null if it does. Takes a bounded number of steps: an input that cannot be checked in them does not
 * match.
 */
export function inputProblem(schema: JsonObject, input: JsonValue): string | null {
  const problems = findArgumentProblems(schema, withoutFiles(schema, input), INPUT);
  return problems.length === 0 ? null : describeProblems(problems).replaceAll("\n", "; ");
}

/** Every agent accepts files. */
function withoutFiles(schema: JsonObject, input: JsonValue): JsonValue {
  if (!isJsonObject(input) || Object.hasOwn(asJsonObject(schema.properties), "files")) return input;
  const { files: _, ...rest } = input;
  return rest;
}
