import { canonicalJson } from "../../platform/values/canonical_json.ts";
import type { ErrorBody } from "../../platform/errors/swarm_error.ts";
import type { ModelToolCall } from "../../models/llm/model_port.ts";
import { plainResultText } from "./result_text.ts";
import { errorCodeOf, rejectedResult, type StepResult } from "./step_result.ts";
import type { CallStep } from "./task_context.ts";
import { countsWith, type Turn } from "./turns.ts";

/** Equal refusals in a row after which the model gets a notice, and the call is not made again. */
const MAX_REFUSALS = 3;
/** Equal refusals in a row after which the task fails. */
const MAX_REPETITIONS = 5;
const MAX_QUOTED_CHARACTERS = 1_000;

/** How often the same call was refused for the same reason in the last turns. */
interface Repetition {
  readonly count: number;
  /** What the tool or the platform said; empty if there is none. */
  readonly reason: string;
  /** The refusal concerned the other calls of the turn. */
  readonly isConflict: boolean;
}

/**
 * Counts the turns in a row, up to the last one, in which the call had the same error.
 *
 * The calls of a turn are made together, so equal calls in it count once and as a success if one of
 * them succeeds, and its other calls do not interrupt the row. A success of one of those does if the
 * turn before did not have the same call.
 */
function repetitionOf(
  turns: readonly Turn[],
  call: ModelToolCall,
  last = turns.length - 1,
): Repetition {
  let reason: string | null = null;
  let [count, isConflict] = [0, false];
  for (let index = last; index >= 0; index--) {
    const turn = turns[index];
    const refusal = refusalIn(turn, call);
    if (refusal === undefined || (index < last && !countsWith(turn, turns[index + 1]))) break;
    const code = errorCodeOf(refusal.output);
    if (code !== "CALL_REPEATED") {
      const text = plainResultText(refusal);
      if (reason !== null && text !== reason) break;
      reason = text;
      isConflict ||= code === "STEP_CONFLICT";
    }
    count++;
    if (hasNewSuccess(turn, turns[index - 1])) break;
  }
  return { count, reason: reason ?? "", isConflict };
}

function refusalIn(turn: Turn | undefined, call: ModelToolCall): CallStep | undefined {
  const ends = turn?.calls.flatMap(({ call: other, step }) => {
    // A conflict is with the other calls of the turn, whatever the arguments are.
    const isConflict = errorCodeOf(step?.output ?? null) === "STEP_CONFLICT";
    const isSame = other.name === call.name && (isConflict || isSameCall(other, call));
    return step !== null && isSame ? [step] : [];
  }) ?? [];
  return ends.every(({ state }) => state === "failed") ? ends[0] : undefined;
}

function hasNewSuccess(turn: Turn | undefined, before: Turn | undefined): boolean {
  return turn?.calls.some(({ call, step }) =>
    step?.state === "done" && !before?.calls.some((earlier) => isSameCall(earlier.call, call))
  ) === true;
}

function isSameCall(one: ModelToolCall, other: ModelToolCall): boolean {
  return one.name === other.name && one.malformed === other.malformed &&
    canonicalJson(one.arguments) === canonicalJson(other.arguments);
}

/**
 * The result of a call that was refused too often to be made again; null if it may be made.
 *
 * @param before The turns of the run before the one with this call.
 */
export function refusedRepetition(
  before: readonly Turn[],
  call: ModelToolCall,
): StepResult | null {
  const { count, isConflict } = repetitionOf(before, call);
  if (count < MAX_REFUSALS || isConflict) return null;
  return rejectedResult(
    "CALL_REPEATED",
    `${call.name} was not called: it has failed ${count} times in a row with these arguments and ` +
      "the same error, so it is refused for good.",
  );
}

/**
 * What the model reads with the results of calls that repeat refused ones, by step. Once the task
 * was retried, the model may make them again.
 */
export function repetitionNotices(turns: readonly Turn[]): ReadonlyMap<number, string> {
  const notices = new Map<number, string>();
  for (
    let index = turns.findLastIndex(({ isRetried }) => isRetried) + 1;
    index < turns.length;
    index++
  ) {
    for (const { seq, call, step } of turns[index]?.calls ?? []) {
      if (step?.state !== "failed") continue;
      const { count } = repetitionOf(turns, call, index);
      if (count >= MAX_REFUSALS) notices.set(seq, noticeOf(count));
    }
  }
  return notices;
}

const noticeOf = (count: number) =>
  `This was number ${count} of the same calls in a row with the same error: it is refused for ` +
  `good. Do not repeat it: after ${MAX_REPETITIONS} of them the task fails. Change the call, ` +
  "reach the goal another way, or end the task and say what is missing.";

/** Why a task fails whose model repeats a refused call; null if it does not. */
export function repetitionFailure(turns: readonly Turn[]): ErrorBody | null {
  for (const { call, step } of turns.at(-1)?.calls ?? []) {
    if (step?.state !== "failed") continue;
    const { count, reason } = repetitionOf(turns, call);
    if (count < MAX_REPETITIONS) continue;
    return {
      code: "CALL_REPEATED",
      message: `Cannot continue the task: its model called ${call.name} ${count} times in a row ` +
        `with the same error: ${reason.slice(0, MAX_QUOTED_CHARACTERS)}`,
      hint: "Remove the cause of the error, change the agent's instructions, or give it another " +
        "model. Then retry the task.",
    };
  }
  return null;
}
