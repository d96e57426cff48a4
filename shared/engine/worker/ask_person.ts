import type { ReviewCall } from "../agent/planned_call.ts";
import { stillUnknownResult } from "../agent/unknown_outcome.ts";
import { StopReason } from "../work/stop_reason.ts";
import type { TaskEnd } from "./task_end.ts";
import type { TaskRun } from "./task_run.ts";

/**
 * Asks a person and parks the task until the answer; continues immediately if the answer exists.
 */
export async function askPerson(
  { seq, intent, reviewKind, question, options, context }: ReviewCall,
  { lease, transcript, ports }: TaskRun,
): Promise<TaskEnd | null> {
  if (intent !== null) await transcript.begin([intent]);
  else await transcript.flush();
  const outcome = await ports.store.requestReview(lease, {
    seq,
    kind: reviewKind,
    question,
    options,
    context,
    untriedSeqs: transcript.untriedCalls.filter((untried) => untried !== seq),
  });
  if (outcome !== "continue") return outcome;
  // The next claim reads the answer.
  if (intent === null) throw new StopReason("yield");
  if (intent.kind === "system") {
    await transcript.refresh([intent]);
  } else {
    // This call was already reviewed once and its worker died again, so it is not tried a third
    // time.
    transcript.end({ ...intent, ...stillUnknownResult("its worker ended before the answer.") });
  }
  return null;
}
