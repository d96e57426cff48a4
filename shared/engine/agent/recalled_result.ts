import { resultFilesOf } from "./result_files.ts";
import { plainResultText } from "./result_text.ts";
import { errorResult, type StepResult, textResult } from "./step_result.ts";
import type { CallStep } from "./task_context.ts";

/** Characters of a result that one call reads again. */
const MAX_RECALLED_CHARS = 12_000;

/** A stored result that the model asks for again. */
export type StoredResult = Pick<CallStep, "name" | "output">;

/** The result of `recall_result`: a part of a stored result, and its files with the first part. */
export function recalledResult(stored: StoredResult, seq: number, offset: number): StepResult {
  // The task's owner can read recalled results but must not read a skill's text.
  if (stored.name === "load_skill") {
    return errorResult("TOOL_ARGUMENTS_INVALID", `Step ${seq} loaded a skill: load it again.`);
  }
  const text = plainResultText(stored);
  const end = offset + MAX_RECALLED_CHARS;
  const more = end < text.length
    ? `\n[${text.length - end} more characters from offset ${end}]`
    : "";
  const files = offset === 0 ? resultFilesOf(stored.output).map((file) => ({ ...file })) : [];
  const extra = files.length === 0 ? { step: seq } : { step: seq, files };
  return textResult(`${text.slice(offset, end)}${more}`, extra);
}

/** The result of `recall_result` for a step that is not an ended call of an earlier turn. */
export function nothingToRecall(seq: number): StepResult {
  return errorResult("TOOL_ARGUMENTS_INVALID", `Step ${seq} is not a call with a result.`);
}
