import { errorResult, type StepResult } from "./step_result.ts";
import type { SystemToolName } from "./system_tools.ts";
import type { Turn, TurnCall } from "./turns.ts";

/** Calls whose result arrives only after the turn. */
const WAITING: ReadonlySet<string> = new Set<SystemToolName>([
  "create_subtask",
  "request_human_review",
]);

/**
 * Refuses a `complete_task` next to another one, or next to a call that waits: the task would end
 * without its result. That call is made, so the model needs one more turn to complete the task.
 */
export function completionConflict(entry: TurnCall, turn: Turn): StepResult | null {
  const waiting = turn.calls.find(({ call }) => WAITING.has(call.name));
  if (waiting !== undefined) {
    return errorResult(
      "STEP_CONFLICT",
      `complete_task was refused: it was called in the same turn as ${waiting.call.name}, and ` +
        "would not have waited for its result. Read that result, then call complete_task alone.",
    );
  }
  const isRepeated = turn.calls.some(({ call, seq }) =>
    call.name === "complete_task" && seq < entry.seq
  );
  if (!isRepeated) return null;
  return errorResult("STEP_CONFLICT", "complete_task was called twice; the first call counts.");
}

/**
 * Refuses a call that waits if the turn before had the same conflict: a model that has not
 * understood it would otherwise create a subtask, or ask a person, in each of its turns.
 */
export function repeatedConflict(
  name: SystemToolName,
  turn: Turn,
  previous: Turn | undefined,
): StepResult | null {
  if (!WAITING.has(name) || !hasConflict(turn) || !hasConflict(previous)) return null;
  return errorResult(
    "STEP_CONFLICT",
    `${name} was refused: for the second time in a row it was called in the same turn as ` +
      "complete_task. Call complete_task alone to end the task with the results that you have, " +
      `or ${name} alone.`,
  );
}

function hasConflict(turn: Turn | undefined): boolean {
  return turn !== undefined && turn.calls.some(({ call }) => call.name === "complete_task") &&
    turn.calls.some(({ call }) => WAITING.has(call.name));
}
