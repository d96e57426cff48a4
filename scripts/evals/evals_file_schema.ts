import { z } from "../../shared/vendor/zod.js";
import { jsonObject, jsonValue } from "../../shared/platform/values/json_schema.ts";
import { nearestNames } from "../../shared/platform/values/nearest_names.ts";
import { taskInput } from "../../shared/engine/tasks/create_task_request.ts";

const weight = z.number().positive().optional()
  .describe("Its share of the test's score. Omitted: 1.");
const share = z.number().min(0).max(1);
const wholeNumber = z.int().nonnegative();

const pattern = z.string().min(1).superRefine((text, context) => {
  try {
    new RegExp(text);
  } catch (error) {
    context.addIssue(error instanceof Error ? error.message : String(error));
  }
});

const expectedCall = z.union([
  z.string().min(1),
  z.strictObject({
    tool: z.string().min(1).describe(
      "server/tool, a server for any of its tools, or a tool of the platform.",
    ),
    arguments: jsonObject.optional().describe("Arguments that the call has; it may have others."),
  }),
]);

/** Caps with the names of a budget, without the depth, which no job is charged for. */
const caps = z.strictObject({
  max_input_tokens: wholeNumber.optional(),
  max_output_tokens: wholeNumber.optional(),
  max_cost_micro_usd: wholeNumber.optional(),
  max_steps: wholeNumber.optional(),
  max_tasks: wholeNumber.optional(),
  max_wall_seconds: wholeNumber.optional(),
});

const ASSERTIONS = [
  z.strictObject({
    type: z.enum(["contains", "not-contains", "icontains", "not-icontains"]),
    value: z.string().min(1).describe("A part of the output; icontains ignores case."),
    weight,
  }),
  z.strictObject({ type: z.enum(["equals", "not-equals"]), value: jsonValue, weight }),
  z.strictObject({
    type: z.enum(["regex", "not-regex"]),
    value: pattern.describe("A regular expression of JavaScript."),
    weight,
  }),
  z.strictObject({
    type: z.literal("is-json"),
    value: jsonObject.optional().describe("A JSON Schema that the output matches."),
    weight,
  }),
  z.strictObject({
    type: z.literal("javascript"),
    value: z.string().min(1).describe(
      "An expression, or statements that return, over output and context: true or false, a score, " +
        "or {pass, score, reason}.",
    ),
    threshold: z.number().optional().describe("The lowest score that passes. Omitted: above 0."),
    weight,
  }),
  z.strictObject({
    type: z.literal("similar"),
    value: z.string().min(1).describe("A text of the same meaning."),
    threshold: share.optional().describe("The lowest cosine similarity. Omitted: 0.75."),
    provider: z.string().min(1).optional()
      .describe("Name of a row of embedders. Omitted: the project's default."),
    weight,
  }),
  z.strictObject({
    type: z.literal("llm-rubric"),
    value: z.string().min(1).describe("What a good output is, for the agent that judges."),
    threshold: share.optional()
      .describe("The lowest score that passes. Omitted: the judge decides."),
    provider: z.string().min(1).optional()
      .describe("Slug of the agent that judges. Omitted: options.provider of the test."),
    weight,
  }),
  z.strictObject({
    type: z.literal("cost"),
    threshold: z.number().nonnegative().describe("Highest cost of the job in US dollars."),
    weight,
  }),
  z.strictObject({
    type: z.literal("latency"),
    threshold: z.number().nonnegative()
      .describe("Longest time from the start of the job to its end, in milliseconds."),
    weight,
  }),
  z.strictObject({
    type: z.literal("trajectory"),
    value: z.array(expectedCall).describe("Calls of the job's own task, in order."),
    mode: z.enum(["exact", "in-order", "contains"]).optional().describe(
      "exact: these calls and no others. in-order: these, with others between. contains: these in " +
        "any order. Omitted: in-order.",
    ),
    weight,
  }),
  z.strictObject({
    type: z.literal("sql"),
    value: z.union([
      z.string().min(1),
      z.strictObject({
        query: z.string().min(1),
        equals: jsonValue.describe("The only value of the result, or else its list of rows."),
      }),
    ]).describe(
      "A statement that reads, after the job: its only value is true, or its result equals. " +
        "{{task_id}} and {{user_id}} are the job's.",
    ),
    weight,
  }),
  z.strictObject({
    type: z.literal("budget"),
    value: caps.describe("The most that the job with its subtasks uses."),
    weight,
  }),
  z.strictObject({
    type: z.literal("review"),
    value: z.strictObject({
      question: z.string().min(1).optional().describe("A part of the question."),
      approved: z.boolean(),
      choice: jsonValue.optional().describe("One of the review's options."),
      arguments: jsonObject.optional().describe("For a call: the arguments to use instead."),
      comments: z.string().optional(),
      response: jsonObject.optional(),
    }).describe(
      "A person is asked, and the runner answers this. The first assertion answers the first review.",
    ),
    weight,
  }),
] as const;

const assertion = z.discriminatedUnion("type", ASSERTIONS, {
  error: ({ input }) =>
    typeof input === "object" && input !== null ? unknownType(input) : undefined,
});

const options = z.strictObject({
  repeat: z.int().min(1).max(1_000).optional().describe("Jobs of the test. Omitted: repeat."),
  provider: z.string().min(1).optional().describe("Slug of the agent that judges llm-rubric."),
});

const testParts = {
  vars: taskInput.optional(),
  assert: z.array(assertion).optional(),
  threshold: share.optional()
    .describe("The lowest score that passes. Omitted: every assertion must pass."),
  options: options.optional(),
};

/** `agents/<slug>.evals.yaml`. */
export type EvalsFile = z.infer<typeof evalsFileSchema>;
/** See {@linkcode EvalsFile}. */
export const evalsFileSchema = z.strictObject({
  description: z.string().optional(),
  repeat: z.int().min(1).max(1_000).optional().describe("Jobs of each test. Omitted: 1."),
  defaultTest: z.strictObject(testParts).optional()
    .describe("Parts of every test: objects of vars and options are merged, assert comes first."),
  tests: z.array(z.strictObject({
    description: z.string().trim().min(1).max(200)
      .describe("The name of the test, under which runs are compared."),
    ...testParts,
  })).min(1, "has no test"),
});

/** One assertion of a test. */
export type Assertion = z.infer<typeof assertion>;

/** The types of assertions. */
const ASSERTION_TYPES: readonly string[] = ASSERTIONS.flatMap(({ shape: { type } }) =>
  [...type._zod.values].map(String)
);

function unknownType(input: object): string {
  const type = Reflect.get(input, "type");
  const [nearest] = nearestNames(String(type), ASSERTION_TYPES, 1);
  const question = nearest === undefined ? "." : `; did you mean "${nearest}"?`;
  return `${JSON.stringify(type ?? null)} is not a type of assertion${question} Types are ${
    ASSERTION_TYPES.join(", ")
  }`;
}
