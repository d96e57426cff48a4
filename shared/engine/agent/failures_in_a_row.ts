import type { CallStep, Step } from "./task_context.ts";

/** A tool of the registry: its server and its name there. */
export interface ToolIdentity {
  readonly server: string;
  readonly toolName: string;
}

/**
 * How often the tool has failed since its last success, or since the task was retried, counting
 * steps before `beforeSeq`.
 *
 * The calls of one turn run in parallel, so none of them counts as an earlier try of another.
 */
export function failuresInARow(
  steps: readonly Step[],
  tool: ToolIdentity,
  beforeSeq: number,
): number {
  const retriedSeq =
    steps.findLast((step) => step.kind === "model" && step.input?.retried === true)?.seq ?? 0;
  const earlier = steps.filter((step): step is CallStep =>
    step.kind === "tool" && step.seq > retriedSeq && step.seq < beforeSeq &&
    step.state !== "started" &&
    step.name === tool.toolName && step.input?.server === tool.server
  );
  const lastSuccess = earlier.findLastIndex((step) => step.state === "done");
  return earlier.length - 1 - lastSuccess;
}
