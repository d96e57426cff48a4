import type { JsonValue } from "../../platform/values/json.ts";
import { fenceData } from "../../gateway/tool_contracts/fence_data.ts";
import type { CallStep } from "./task_context.ts";

/**
 * The text of an ended call as the model reads it.
 *
 * Untrusted text is fenced as data: results of registry tools, and other agents' answers, which may
 * repeat tool output. Instructions of the agent's own skills, a person's answer and the platform's
 * own messages are not fenced.
 *
 * @param shorten Applied to the result before it is fenced.
 */
export function resultText(step: CallStep, shorten = (text: string): string => text): string {
  // Skills are never shortened: each of their sentences matters.
  const own = step.name === "load_skill" ? textOf(step.output) : shorten(textOf(step.output));
  if (step.kind === "tool") {
    const shown = isOwnMessage(step) ? own : fenceData(own, sourceOf(step));
    return adviceOf(step.output) ?? shown;
  }
  if (step.name === "recall_result") return fenceData(own, "recalled result");
  // Servers wrote the descriptions.
  if (step.name === "search_tools" && step.state === "done") return fenceData(own, "tools");
  if (step.name === "create_subtask" && !hasText(step.output)) return fenceData(own, "subtask");
  return own;
}

/** True if the model must treat the result as an error. */
export function isErrorResult(step: CallStep): boolean {
  return step.state === "failed";
}

/** A call that never reached its tool has a result written by the platform. */
function isOwnMessage({ output }: CallStep): boolean {
  return typeof output === "object" && output !== null && !("execution_id" in output);
}

/** The platform's text about a tool error; it quotes the error inside its own fence. */
function adviceOf(output: JsonValue | null): string | null {
  if (typeof output !== "object" || output === null || !("advice" in output)) return null;
  return typeof output.advice === "string" ? output.advice : null;
}

function sourceOf(step: CallStep): string {
  const server = step.input?.server;
  return typeof server === "string" ? `${server}/${step.name}` : step.name;
}

/** The result of a call without a fence, for callers that add their own. */
export function plainResultText({ output }: Pick<CallStep, "output">): string {
  return textOf(output);
}

function textOf(output: JsonValue | null): string {
  return hasText(output) ? output.text : JSON.stringify(output);
}

function hasText(output: JsonValue | null): output is { readonly text: string } {
  return typeof output === "object" && output !== null && "text" in output &&
    typeof output.text === "string";
}
