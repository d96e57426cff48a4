import type { JsonValue } from "../json.ts";
import type { ModelAnswer, ModelMessage } from "../llm/model_port.ts";
import { type CompletionTerms, judgePlainAnswer } from "./completion.ts";
import { isErrorResult, resultText } from "./result_text.ts";
import type { Step } from "./task_context.ts";
import { isPlainAnswer, lastMessageSeq, readTurns, type Turn, type TurnCall } from "./turns.ts";

/**
 * Rebuilds the conversation from the transcript: the task, then each turn's answer, the results of
 * its calls in call order, and the messages by which its user continued the task. Turns that have
 * not ended are left out.
 */
export function buildMessages(
  input: JsonValue,
  steps: readonly Step[],
  terms: CompletionTerms,
): readonly ModelMessage[] {
  const lastSeq = lastMessageSeq(steps);
  const turns = new Map(readTurns(steps).map((turn) => [turn.modelSeq, turn]));
  const later = steps.flatMap((step): readonly ModelMessage[] => {
    if (step.kind === "user") return [{ role: "user", text: inputText(step.input) }];
    const turn = turns.get(step.seq);
    return turn === undefined ? [] : turnMessages(turn, terms, step.seq < lastSeq);
  });
  return [{ role: "user", text: inputText(input) }, ...later];
}

/** @param isHistory A later message of the user has closed the turn: no result will come. */
function turnMessages(
  turn: Turn,
  terms: CompletionTerms,
  isHistory: boolean,
): readonly ModelMessage[] {
  if (turn.output === null) return [];
  return [
    assistantMessage(turn.output),
    ...turn.calls.flatMap((call) => toolMessages(call, isHistory)),
    ...(isPlainAnswer(turn) ? returnedAnswer(turn.output.text, terms) : []),
  ];
}

function returnedAnswer(text: string, terms: CompletionTerms): readonly ModelMessage[] {
  const verdict = judgePlainAnswer(text, terms);
  return verdict.kind === "returned" ? [{ role: "user", text: verdict.message }] : [];
}

const NEVER_MADE = "The call was not made: the task ended first.";

function inputText(input: JsonValue): string {
  return typeof input === "string" ? input : JSON.stringify(input, null, 2);
}

/** What a model thought goes back in `provider_data` alone, to the provider that it came from. */
function assistantMessage(
  { finish_reason: _stop, reasoning: _thoughts, provider_tool_calls: _used, ...answer }:
    ModelAnswer,
): ModelMessage {
  return { role: "assistant", ...answer };
}

function toolMessages({ call, step }: TurnCall, isHistory: boolean): readonly ModelMessage[] {
  const { call_id, name } = call;
  if (step === null || step.state === "started") {
    return isHistory ? [{ role: "tool", call_id, name, text: NEVER_MADE, is_error: true }] : [];
  }
  return [{
    role: "tool",
    call_id,
    name,
    text: resultText(step),
    is_error: isErrorResult(step),
  }];
}
