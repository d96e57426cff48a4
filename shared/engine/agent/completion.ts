import type { JsonObject, JsonValue } from "../../platform/values/json.ts";
import { fitOutput } from "./fit_output.ts";
import type { StepResult } from "./step_result.ts";
import { errorCodeOf, errorResult } from "./step_result.ts";
import type { Agent, TaskContext } from "./task_context.ts";
import { isPlainAnswer, type Turn } from "./turns.ts";

/** How often the model may correct a result that does not match its schema. */
export const MAX_CORRECTIONS = 2;

/** What a task's result must look like. */
export interface CompletionTerms {
  /** JSON Schema of the result: the task's own if it has one, otherwise its agent's. */
  readonly outputSchema: JsonObject | null;
  /** The agent must end its tasks with `complete_task`; a plain answer does not end one. */
  readonly mustComplete: boolean;
}

/** The outcome of an answer without a tool call. */
export type PlainAnswerVerdict =
  | { readonly kind: "accepted"; readonly output: JsonValue }
  /** Call the model again with this message. */
  | { readonly kind: "returned"; readonly message: string }
  | { readonly kind: "undecided"; readonly reason: string };

const REMINDER =
  "You answered without calling a tool. If the task is done, call complete_task with the whole " +
  "result; otherwise make the next tool call.";
const EMPTY_ANSWER = "Your answer was empty. Answer with the result, or call a tool.";

/** The properties of a task and its agent that decide how the task ends. */
interface CompletionSource {
  readonly task: Pick<TaskContext["task"], "output_schema">;
  readonly agent: Pick<Agent, "output_schema" | "must_complete"> | null;
}

/** The requirements for this task's result. */
export function completionTerms({ task, agent }: CompletionSource): CompletionTerms {
  return {
    outputSchema: task.output_schema ?? agent?.output_schema ?? null,
    mustComplete: agent?.must_complete ?? false,
  };
}

/** Decides whether an answer without a tool call is the result. */
export function judgePlainAnswer(text: string, terms: CompletionTerms): PlainAnswerVerdict {
  const answer = text.trim();
  if (answer === "") return { kind: "returned", message: EMPTY_ANSWER };
  if (terms.mustComplete) return { kind: "returned", message: REMINDER };
  if (terms.outputSchema === null) return { kind: "accepted", output: answer };
  const fit = fitOutput(answer, terms.outputSchema);
  switch (fit.kind) {
    case "fits":
      return { kind: "accepted", output: fit.output };
    case "undecided":
      return fit;
    case "misfits":
      return { kind: "returned", message: `${describe(fit.issues)}\n${REMINDER}` };
  }
}

/** The message to the model when the output of `complete_task` does not match the schema. */
export function misfitResult(issues: readonly string[]): StepResult {
  return errorResult(
    "OUTPUT_SCHEMA_MISMATCH",
    `${describe(issues)}\nCall complete_task again with the whole corrected output.`,
  );
}

/** How many results in these turns were returned to the model for correction. */
export function returnedResults(turns: readonly Turn[], terms: CompletionTerms): number {
  return turns.filter((turn) =>
    isPlainAnswer(turn)
      ? judgePlainAnswer(turn.output?.text ?? "", terms).kind === "returned"
      : turn.calls.some(({ call, step }) =>
        call.name === "complete_task" &&
        errorCodeOf(step?.output ?? null) === "OUTPUT_SCHEMA_MISMATCH"
      )
  ).length;
}

function describe(issues: readonly string[]): string {
  return `The result does not fit the output schema:\n${
    issues.map((issue) => `- ${issue}`).join("\n")
  }`;
}
