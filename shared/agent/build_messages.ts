import type { JsonValue } from "../json.ts";
import type { ModelAnswer, ModelMessage } from "../llm/model_port.ts";
import { type CompletionTerms, judgePlainAnswer } from "./completion.ts";
import { isErrorResult, resultText } from "./result_text.ts";
import type { Step } from "./task_context.ts";
import { isPlainAnswer, readTurns, type TurnCall } from "./turns.ts";

/**
 * Rebuilds the conversation from the transcript: the task, then each turn's answer and the
 * results of its calls in call order. Turns that have not ended are left out.
 */
export function buildMessages(
  input: JsonValue,
  steps: readonly Step[],
  terms: CompletionTerms,
): readonly ModelMessage[] {
  const messages: ModelMessage[] = [{ role: "user", text: inputText(input) }];
  for (const turn of readTurns(steps)) {
    if (turn.output === null) continue;
    messages.push(assistantMessage(turn.output));
    messages.push(...turn.calls.flatMap(toolMessages));
    if (isPlainAnswer(turn)) messages.push(...returnedAnswer(turn.output.text, terms));
  }
  return messages;
}

function returnedAnswer(text: string, terms: CompletionTerms): readonly ModelMessage[] {
  const verdict = judgePlainAnswer(text, terms);
  return verdict.kind === "returned" ? [{ role: "user", text: verdict.message }] : [];
}

function inputText(input: JsonValue): string {
  return typeof input === "string" ? input : JSON.stringify(input, null, 2);
}

function assistantMessage({ finish_reason: _, ...answer }: ModelAnswer): ModelMessage {
  return { role: "assistant", ...answer };
}

function toolMessages({ call, step }: TurnCall): readonly ModelMessage[] {
  if (step === null || step.state === "started") return [];
  return [{
    role: "tool",
    call_id: call.call_id,
    name: call.name,
    text: resultText(step),
    is_error: isErrorResult(step),
  }];
}
