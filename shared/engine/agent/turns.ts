import type { ModelAnswer, ModelToolCall } from "../../models/llm/model_port.ts";
import type { CallStep, Step } from "./task_context.ts";

/** A tool call of a turn and the step that holds its result, once there is one. */
export interface TurnCall {
  readonly seq: number;
  readonly call: ModelToolCall;
  readonly step: CallStep | null;
}

/** A model call and the tool calls it requested. */
export interface Turn {
  readonly modelSeq: number;
  /** Number of input checks between the model call and its tool calls. */
  readonly checkCount: number;
  /** Null until the model has answered. */
  readonly output: ModelAnswer | null;
  readonly calls: readonly TurnCall[];
}

/**
 * Reads the transcript as turns. The calls of a turn have the sequence numbers that follow its
 * model call and the checks made beside it, in the order in which the model requested them.
 */
export function readTurns(steps: readonly Step[]): readonly Turn[] {
  const callSteps = new Map(
    steps.flatMap((step) => isCallStep(step) ? [[step.seq, step] as const] : []),
  );
  const checks = new Set(
    steps.flatMap((step) =>
      step.kind === "guardrail" && step.input.stage === "input" ? [step.seq] : []
    ),
  );
  return steps.flatMap((step) => {
    if (step.kind !== "model" || isSummary(step)) return [];
    const output = step.state === "started" ? null : step.output;
    const checkCount = countChecks(checks, step.seq + 1);
    const calls = (output?.tool_calls ?? []).map((call, index) => {
      const seq = step.seq + 1 + checkCount + index;
      return { seq, call, step: callSteps.get(seq) ?? null };
    });
    return [{ modelSeq: step.seq, checkCount, output, calls }];
  });
}

function countChecks(checks: ReadonlySet<number>, seq: number): number {
  return checks.has(seq) ? 1 + countChecks(checks, seq + 1) : 0;
}

/** True for a model call that summarizes the previous turns. */
export function isSummary(step: Step): boolean {
  return step.kind === "model" && step.input?.summarizes_through !== undefined;
}

function isCallStep(step: Step): step is CallStep {
  return step.kind === "tool" || step.kind === "system";
}

/**
 * The user message that started the current run: 0 for the task's input. Everything before it is
 * history with no pending work.
 */
export function lastMessageSeq(steps: readonly Step[]): number {
  return steps.findLast(({ kind }) => kind === "user")?.seq ?? 0;
}

/** True when the model answered without calling a tool. */
export function isPlainAnswer(turn: Turn): boolean {
  return turn.output !== null && turn.calls.length === 0;
}

/** Number of the model call that follows a turn. */
export function nextModelSeq(turn: Turn): number {
  return turn.modelSeq + turn.checkCount + turn.calls.length + 1;
}
