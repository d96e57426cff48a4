import type { TaskContext } from "../agent/task_context.ts";
import { inputProblem } from "../tasks/input_problem.ts";
import type { ErrorBody } from "../../platform/errors/swarm_error.ts";

/**
 * The error of a task whose input does not match the `input_schema` of its agent; null if it does,
 * and for a task that a model has already worked on. Jobs that a schedule, another task or a fork
 * began have not been checked before.
 */
export function misfitOfInput(
  { task, agent, steps, first_epoch: firstEpoch }: TaskContext,
): ErrorBody | null {
  if (agent === null || agent.input_schema === null) return null;
  const hasAnswer = steps.some(({ kind, state }) => kind === "model" && state === "done");
  if (hasAnswer && firstEpoch !== EPOCH_OF_COPIES) return null;
  const problem = inputProblem(agent.input_schema, task.input);
  return problem === null ? null : {
    code: "TASK_INPUT_INVALID",
    message: `Cannot start the task: ${problem}`,
    hint: `Send an input that matches input_schema of the agent "${agent.slug}", or correct the ` +
      "schema and retry the task.",
  };
}

/** The steps that a fork copies from another task. */
const EPOCH_OF_COPIES = "0";
