import { isRejected } from "./step_result.ts";
import { isPlainAnswer, type Turn } from "./turns.ts";

/**
 * The turns that no prompt contains any more: those that led to a failure after which the task was
 * retried. They hold nothing but answers that were not accepted and calls that were never made, so
 * the model answers anew instead of continuing from them. The transcript keeps them.
 */
export function retiredTurns(turns: readonly Turn[]): ReadonlySet<Turn> {
  const retired = new Set<Turn>();
  for (const [index, turn] of turns.entries()) {
    if (!turn.isRetried) continue;
    const isOfMessage = ({ begunBy }: Turn) => begunBy === turn.begunBy;
    const keptBefore = turns.slice(0, index + 1)
      .findLastIndex((earlier) => !isOfMessage(earlier) || !isWithoutEffect(earlier));
    for (const earlier of turns.slice(keptBefore + 1, index + 1)) retired.add(earlier);
  }
  return retired;
}

function isWithoutEffect(turn: Turn): boolean {
  return isPlainAnswer(turn) ||
    (turn.output !== null &&
      turn.calls.every(({ call, step }) =>
        call.name === "complete_task" || isRejected(step?.output ?? null)
      ));
}
