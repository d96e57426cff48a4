import type { CallIntent, SubtaskCall } from "../agent/planned_call.ts";
import { inputProblem } from "../tasks/input_problem.ts";
import type { TaskEnd } from "./task_end.ts";
import type { TaskRun } from "./task_run.ts";

/**
 * Creates the subtasks of a turn in one transaction. A forbidden handoff, or one whose input does not
 * match the agent's `input_schema`, ends its step with the error, which the model sees.
 *
 * @returns the steps whose subtasks exist.
 * @throws DEPTH_EXCEEDED, CHILDREN_EXCEEDED, TASKS_EXCEEDED, TASK_CANCELLED
 */
export async function spawnSubtasks(
  calls: readonly SubtaskCall[],
  { lease, transcript, trace, ports }: TaskRun,
): Promise<readonly number[]> {
  const [schemas] = await Promise.all([
    ports.store.inputSchemas(calls.map(({ agent }) => agent)),
    transcript.begin(calls.map(({ intent }) => intent)),
  ]);
  const subtasks = calls.map(({ intent, agent, input }) => {
    const schema = schemas.get(agent);
    const problem = schema === undefined ? null : inputProblem(schema, input);
    return { seq: intent.seq, agent, input, problem };
  });
  const outcomes = await trace.spawn(subtasks, (traced) => ports.store.spawn(lease, traced));
  const refused = outcomes.filter(({ error }) => error !== null).map(({ seq }) => seq);
  const isRefused = ({ intent }: SubtaskCall) => refused.includes(intent.seq);
  if (refused.length > 0) {
    await transcript.refresh(calls.filter(isRefused).map(({ intent }) => intent));
  }
  return calls.filter((call) => !isRefused(call)).map(({ intent }) => intent.seq);
}

/** Waits for the subtasks of a turn; continues immediately if all have ended in the meantime. */
export async function parkForSubtasks(
  awaited: readonly CallIntent[],
  { lease, transcript, ports }: TaskRun,
): Promise<TaskEnd | null> {
  await transcript.flush();
  const outcome = await ports.store.park(lease);
  if (outcome !== "continue") return outcome;
  await transcript.refresh(awaited);
  return null;
}
