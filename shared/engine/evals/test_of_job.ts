import { isJsonObject, type JsonObject, type JsonValue } from "../../platform/values/json.ts";
import { createMask } from "./mask_values.ts";

/** A step of a task, as far as it says which tool was called. */
export interface CallingStep {
  readonly kind: string;
  readonly name: string;
  readonly input:
    | { readonly server?: string | undefined; readonly arguments: JsonObject }
    | null;
}

/** A call of a tool, or of a function of the platform such as `create_subtask`. */
export interface RecordedCall {
  /** `server/tool`, or the function's name. */
  readonly tool: string;
  readonly arguments: JsonObject;
}

/** What a test is made of. */
export interface CompletedJob {
  readonly input: string | JsonObject;
  readonly output: JsonValue;
  /** The steps of the job's own task, in order. */
  readonly steps: readonly CallingStep[];
  /** The answered questions of the whole job, in order. */
  readonly reviews: readonly {
    readonly question: string;
    readonly approved: boolean;
    readonly comments: string | null;
    readonly response: JsonObject;
  }[];
}

/** An entry of `tests` in a file of evals. */
export interface JobTest {
  readonly description: string;
  readonly vars: string | JsonObject;
  readonly assert: readonly ({ readonly type: string; readonly value: JsonValue })[];
}

/** Names of the files in which a large output is stored. */
const STORED_OUTPUT = /\/_output\.(txt|json)$/;

/**
 * Why no test can be made of a job, or null.
 *
 * @param output The output of the job.
 * @param kinds The kinds of its steps.
 */
export function obstacleOf(output: JsonValue, kinds: readonly string[]): string | null {
  if (isJsonObject(output) && STORED_OUTPUT.test(String(output.storage_path))) {
    return "its output is stored as a file";
  }
  return kinds.includes("user") ? "its user continued it, and a test has one input" : null;
}

/** The call of a step, or none. The call that ends the task is its output. */
export function callOf({ kind, name, input }: CallingStep): RecordedCall[] {
  const isCall = (kind === "tool" || kind === "system") && name !== "complete_task";
  if (!isCall || input === null) return [];
  const tool = input.server === undefined ? name : `${input.server}/${name}`;
  return [{ tool, arguments: input.arguments }];
}

/**
 * A test from a completed job: its input, the tools that it called in order, the answers of people,
 * and its output, as a text or as the schema of its JSON. What identifies people or grants access is
 * replaced.
 */
export function testOfJob({ input, output, steps, reviews }: CompletedJob, name: string): JobTest {
  const calls = steps.flatMap(callOf);
  const test = {
    vars: input,
    assert: [
      ...reviews.map(({ question, approved, comments, response }) => ({
        type: "review",
        value: {
          question,
          approved,
          ...comments === null ? {} : { comments },
          ...Object.keys(response).length === 0 ? {} : { response },
        },
      })),
      // The arguments of functions of the platform are long texts that differ each time.
      ...calls.length === 0 ? [] : [{
        type: "trajectory",
        value: calls.map((call) => call.tool.includes("/") ? { ...call } : call.tool),
      }],
      typeof output === "string"
        ? { type: "equals", value: output }
        : { type: "is-json", value: schemaOf(output) },
    ],
  };
  return { description: name, ...createMask()(test) as unknown as Omit<JobTest, "description"> };
}

/**
 * The JSON Schema that a value of the same form matches: all members, and items like the first. What
 * is null here may be anything.
 */
function schemaOf(value: JsonValue): JsonObject {
  if (value === null) return {};
  if (Array.isArray(value)) {
    const [first] = value;
    return { type: "array", ...first === undefined ? {} : { items: schemaOf(first) } };
  }
  if (!isJsonObject(value)) return { type: typeof value };
  return {
    type: "object",
    properties: Object.fromEntries(
      Object.entries(value).map(([name, member]) => [name, schemaOf(member)]),
    ),
    required: Object.keys(value),
  };
}
