import { validateValue } from "../../shared/models/tool_schemas/validate_value.ts";
import { canonicalJson } from "../../shared/platform/values/canonical_json.ts";
import type { JsonValue } from "../../shared/platform/values/json.ts";
import { type Finding, shown } from "./assertion_result.ts";
import type { Assertion } from "./evals_file_schema.ts";

/** The assertions that look only at a job's output. */
export type OutputAssertion = Extract<
  Assertion,
  {
    type:
      | ("contains" | "not-contains" | "icontains" | "not-icontains")
      | ("equals" | "not-equals" | "regex" | "not-regex" | "is-json");
  }
>;

/** Checks a job's output. An output that is not a text is searched as JSON. */
export function checkOutput(assertion: OutputAssertion, output: JsonValue): Finding {
  if (assertion.type === "is-json") return checkJson(assertion.value, output);
  const isNegated = assertion.type.startsWith("not-");
  const holds = holdsFor(assertion, output);
  const { type, value } = assertion;
  return {
    passed: holds !== isNegated,
    reason: `the output is ${shown(output)}; expected ${type} ${shown(value)}`,
  };
}

function holdsFor(
  { type, value }: Exclude<OutputAssertion, { type: "is-json" }>,
  output: JsonValue,
): boolean {
  const text = textOf(output);
  switch (type) {
    case "contains":
    case "not-contains":
      return text.includes(value);
    case "icontains":
    case "not-icontains":
      return text.toLowerCase().includes(value.toLowerCase());
    case "equals":
    case "not-equals":
      return canonicalJson(output) === canonicalJson(value);
    case "regex":
    case "not-regex":
      return new RegExp(value).test(text);
  }
}

function checkJson(
  schema: Extract<OutputAssertion, { type: "is-json" }>["value"],
  output: JsonValue,
): Finding {
  let value = output;
  if (typeof output === "string") {
    try {
      value = JSON.parse(output);
    } catch {
      return { passed: false, reason: `the output is not JSON: ${shown(output)}` };
    }
  }
  const result = validateValue(value, schema ?? {});
  switch (result.kind) {
    case "valid":
      return { passed: true, reason: "" };
    case "invalid": {
      const problem = result.errors.at(-1);
      return {
        passed: false,
        reason:
          `the output does not match the schema: ${problem?.instanceLocation} ${problem?.error}`,
      };
    }
    case "undecided":
      return { passed: false, reason: `the schema cannot be checked: ${result.reason}` };
  }
}

/** The text of an output: itself, or its JSON. */
export function textOf(output: JsonValue): string {
  return typeof output === "string" ? output : JSON.stringify(output);
}
