import type { ModelAnswer } from "../../models/llm/model_port.ts";
import { toOriginalText } from "../../models/llm/native_output.ts";
import type { JsonObject } from "../../platform/values/json.ts";
import type { CompletionTerms } from "./completion.ts";
import { estimatePromptTokens, type MeasuredPrompt } from "./estimate_tokens.ts";
import { errorCodeOf, rejectedResult, type StepResult } from "./step_result.ts";
import type { TaskContext } from "./task_context.ts";
import { type FollowUp, isFollowUp, isPlainAnswer, type Turn, type TurnCall } from "./turns.ts";

/** Whether the output limit cut the model's answer, so that its text or its calls are incomplete. */
export function isCut({ output }: Turn): boolean {
  return output?.finish_reason === "length";
}

/** A call of a cut turn, which is never made. One that has begun was made by an older worker. */
export function isCutCall({ step }: TurnCall, turn: Turn): boolean {
  return isCut(turn) && step === null;
}

/** The result of a call that was not made because its turn was cut. */
export function cutCallResult({ call }: TurnCall, { output }: Turn): StepResult {
  return rejectedResult(
    "MODEL_OUTPUT_CUT",
    `${call.name} was not called: your turn was cut ${limitOf(output)}, so the call may be ` +
      "incomplete. None of the calls of that turn was made.\n" +
      "Make the calls again, and write less in one turn.",
  );
}

/** The message after an answer without calls that was cut. */
export function cutAnswerMessage(turn: Turn): string {
  const limit = limitOf(turn.output);
  return hasText(turn)
    ? `Your answer was cut ${limit}. Continue it exactly where it stopped: begin with the next ` +
      "character, repeat nothing, and do not mention the cut."
    : `Your turn was cut ${limit} before it said anything. Answer again, with less reasoning.`;
}

/** "at the output limit", and how many tokens that is if it is known. */
export function limitOf(output: ModelAnswer | null): string {
  const tokens = output?.cut_at_tokens;
  return tokens === undefined ? "at the output limit" : `at the output limit of ${tokens} tokens`;
}

/**
 * How the model is called after the last answered turn of a run: null if that was not cut or the
 * task was retried after it, "none" if it was cut for the last time.
 *
 * @param maxContinuations The most calls that continue one text.
 */
export function followUpOf(
  turns: readonly Turn[],
  maxContinuations: number,
): FollowUp | "none" | null {
  const turn = turns.findLast(({ output }) => output !== null);
  if (turn === undefined || !isCut(turn) || turn.isRetried || turn.calls.some(wasMade)) return null;
  const { continues, hasMoreRoom, modelSeq } = turn;
  const isText = isPlainAnswer(turn) && hasText(turn);
  if (isText) {
    const isSpent = partsOf(turns, turn).length > maxContinuations;
    return isSpent ? "none" : { continues: modelSeq, hasMoreRoom };
  }
  if (hasMoreRoom) return "none";
  return { continues: isPlainAnswer(turn) ? continues : null, hasMoreRoom: true };
}

/** How a task goes on after a cut turn. */
export type CutVerdict =
  /** The model is called again. */
  | { readonly kind: "asked" }
  /** The text is the result as it is; `tasks.warnings` says that it was cut. */
  | { readonly kind: "accepted"; readonly output: string }
  /** The task fails. */
  | {
    readonly kind: "incomplete";
    readonly reason: { readonly message: string; readonly hint: string };
  };

/** The conditions of a task for a turn that was cut. */
export interface CutTerms extends CompletionTerms {
  readonly max_continuations: number;
  /** Whether the agent's `max_turns` allows another call. */
  readonly hasTurnsLeft: boolean;
}

/**
 * Decides what follows the last turn of a run if it was cut; null if it was not.
 *
 * @param turns The turns of the run as they were recorded.
 * @param turn The last one, with the whole text of its parts.
 */
export function judgeCutTurn(
  turns: readonly Turn[],
  turn: Turn,
  { max_continuations, hasTurnsLeft, outputSchema, mustComplete }: CutTerms,
): CutVerdict | null {
  const followUp = followUpOf(turns, max_continuations);
  if (followUp === null) return null;
  const text = turn.output?.text.trim() ?? "";
  const isResult = isPlainAnswer(turn) && text !== "" && outputSchema === null && !mustComplete;
  if (followUp !== "none" && (hasTurnsLeft || !isResult)) return { kind: "asked" };
  if (isResult) return { kind: "accepted", output: text };
  const limit = limitOf(turn.output);
  return {
    kind: "incomplete",
    reason: {
      message: turn.calls.length > 0
        ? `Cannot make the model's tool calls: its turn was cut ${limit} again`
        : `Cannot complete the task: the model's answer is incomplete, cut ${limit}`,
      hint: "Raise the agent's max_tokens or max_continuations, or let it do less in one turn.",
    },
  };
}

/** What a call after a cut answer has of its own: a shorter prompt, and its place in the answer. */
export function callAfterCut<P extends MeasuredPrompt & { readonly output?: unknown }>(
  followUp: FollowUp | "none" | null,
  prompt: P,
  context: TaskContext,
): {
  readonly prompt: P | Omit<P, "output">;
  readonly continues?: number;
  readonly maxTokens?: number | null;
} {
  if (followUp === null || followUp === "none") return { prompt };
  const { continues, hasMoreRoom } = followUp;
  const more = hasMoreRoom ? { maxTokens: roomAfter(prompt, context) } : {};
  if (continues === null) return { prompt, ...more };
  // Providers enforce the schema of a whole answer, not of the rest of one.
  const { output: _, ...free } = prompt;
  return { prompt: free, continues, ...more };
}

/** The most tokens that the model can write after the prompt; null: it keeps to its own limit. */
function roomAfter(
  prompt: MeasuredPrompt,
  { agent, model_max_tokens: most, window_tokens: windowTokens }: TaskContext,
): number | null {
  if (most === null) return null;
  const left = windowTokens - estimatePromptTokens(prompt);
  return Math.max(agent?.max_tokens ?? 1, Math.min(most, left));
}

/**
 * The turns with the parts of each continued text as one answer, and without those that were asked
 * again.
 *
 * @param schema The schema that providers may have enforced in a form of their own. @default null
 */
export function joinCutTurns(
  turns: readonly Turn[],
  schema: JsonObject | null = null,
): readonly Turn[] {
  return turns.flatMap((turn, index) => {
    const next = turns[index + 1];
    if (next !== undefined && isFollowUp(next)) return [];
    if (turn.output === null || turn.continues === null) return [turn];
    const text = textThrough(turns, turn.modelSeq);
    const whole = schema === null || isCut(turn) ? text : toOriginalText(text, schema);
    return [{ ...turn, output: { ...turn.output, text: whole } }];
  });
}

/** The text of the model call `seq` and of those that it continues; empty without one. */
export function textThrough(turns: readonly Turn[], seq: number | undefined): string {
  const turn = turns.find(({ modelSeq }) => modelSeq === seq);
  return turn === undefined
    ? ""
    : partsOf(turns, turn).map(({ output }) => output?.text ?? "").join("");
}

/** A turn and those whose text it continues, the first one first. */
function partsOf(turns: readonly Turn[], turn: Turn): readonly Turn[] {
  const before = turns.find(({ modelSeq }) => modelSeq === turn.continues);
  return [...before === undefined ? [] : partsOf(turns, before), turn];
}

function hasText({ output }: Turn): boolean {
  return (output?.text ?? "").trim() !== "";
}

function wasMade({ step }: TurnCall): boolean {
  return step !== null && errorCodeOf(step.output) !== "MODEL_OUTPUT_CUT";
}
