import type { JsonObject, JsonValue } from "../json.ts";
import { fitOutput } from "./fit_output.ts";
import type { StepResult } from "./step_result.ts";
import { errorResult } from "./step_result.ts";
import type { Agent, TaskContext } from "./task_context.ts";
import { isPlainAnswer, type Turn } from "./turns.ts";

/** How often a result that does not fit its schema goes back to the model. */
export const MAX_CORRECTIONS = 2;

/** What a task's result has to be. */
export interface CompletionTerms {
  /** JSON Schema of the result: the task's own, else its agent's. */
  readonly outputSchema: JsonObject | null;
  /** The agent ends its tasks with `complete_task`; a plain answer is only a remark. */
  readonly mustComplete: boolean;
}

/** What becomes of an answer without a tool call. */
export type PlainAnswerVerdict =
  | { readonly kind: "accepted"; readonly output: JsonValue }
  /** The model is asked again with this message. */
  | { readonly kind: "returned"; readonly message: string }
  | { readonly kind: "undecided"; readonly reason: string };

const REMINDER =
  "You answered without calling a tool. If the task is done, call complete_task with the whole " +
  "result; if not, go on with the next tool call.";
const EMPTY_ANSWER = "Your answer was empty. Answer with the result, or go on with a tool call.";

/** Of a task and its agent what decides how the task ends. */
interface CompletionSource {
  readonly task: Pick<TaskContext["task"], "output_schema">;
  readonly agent: Pick<Agent, "output_schema" | "must_complete"> | null;
}

/** What the result of this task has to be. */
export function completionTerms(
  { task, agent }: CompletionSource,
): CompletionTerms {
  return {
    outputSchema: task.output_schema ?? agent?.output_schema ?? null,
    mustComplete: agent?.must_complete ?? false,
  };
}

/** Judges an answer without a tool call: is it the result? */
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

/** What the model reads of a `complete_task` whose output does not fit. */
export function misfitResult(issues: readonly string[]): StepResult {
  return errorResult(
    "OUTPUT_SCHEMA_MISMATCH",
    `${describe(issues)}\nCall complete_task again with the whole corrected output.`,
  );
}

/** How many results of these turns went back to the model. */
export function returnedResults(turns: readonly Turn[], terms: CompletionTerms): number {
  return turns.filter((turn) =>
    isPlainAnswer(turn)
      ? judgePlainAnswer(turn.output?.text ?? "", terms).kind === "returned"
      : turn.calls.some(({ step }) => isMisfit(step?.output ?? null))
  ).length;
}

function isMisfit(output: JsonValue | null): boolean {
  return typeof output === "object" && output !== null && "error_code" in output &&
    output.error_code === "OUTPUT_SCHEMA_MISMATCH";
}

function describe(issues: readonly string[]): string {
  return `The result does not fit the output schema:\n${
    issues.map((issue) => `- ${issue}`).join("\n")
  }`;
}
