import type { ModelAnswer, ModelToolCall } from "../../models/llm/model_port.ts";
import type { CallStep, Step } from "./task_context.ts";

/** A tool call of a turn and the step that holds its result, once there is one. */
export interface TurnCall {
  readonly seq: number;
  readonly call: ModelToolCall;
  readonly step: CallStep | null;
}

/**
 * How a model call follows one whose answer was cut at the output limit: it continues a text, or is
 * asked again with more room. What is continued after that keeps the room, so that a row of cut
 * turns ends.
 */
export interface FollowUp {
  /** The model call whose text is continued; null for none. */
  readonly continues: number | null;
  readonly hasMoreRoom: boolean;
}

/** A model call and the tool calls it requested. */
export interface Turn extends FollowUp {
  readonly modelSeq: number;
  /** Number of input checks between the model call and its tool calls. */
  readonly checkCount: number;
  /** Null until the model has answered. */
  readonly output: ModelAnswer | null;
  readonly calls: readonly TurnCall[];
  /** The message of the user that it continues; 0 for the task's input. */
  readonly begunBy: number;
  /** The task ended after this turn and was retried. */
  readonly isRetried: boolean;
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
  let begunBy = 0;
  return steps.flatMap((step) => {
    if (step.kind === "user") begunBy = step.seq;
    if (step.kind !== "model" || isSummary(step)) return [];
    const output = step.state === "started" ? null : step.output;
    const checkCount = countChecks(checks, step.seq + 1);
    const calls = (output?.tool_calls ?? []).map((call, index) => {
      const seq = step.seq + 1 + checkCount + index;
      return { seq, call, step: callSteps.get(seq) ?? null };
    });
    return [{
      modelSeq: step.seq,
      checkCount,
      output,
      calls,
      continues: step.input?.continues ?? null,
      hasMoreRoom: step.input?.max_tokens !== undefined,
      begunBy,
      isRetried: step.input?.retried === true,
    }];
  });
}

/** Whether a model call follows a cut answer. */
export function isFollowUp({ continues, hasMoreRoom }: FollowUp): boolean {
  return continues !== null || hasMoreRoom;
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

/**
 * The last turn and those before it that count together with it: a message of the user and a retry
 * start every count anew.
 */
export function lastRun(turns: readonly Turn[]): readonly Turn[] {
  let begin = Math.max(0, turns.length - 1);
  while (countsWith(turns[begin - 1], turns[begin])) begin--;
  return turns.slice(begin);
}

/** Whether a turn counts together with the one after it. */
export function countsWith(turn: Turn | undefined, next: Turn | undefined): boolean {
  return turn !== undefined && !turn.isRetried && turn.begunBy === next?.begunBy;
}

/** True when the model answered without calling a tool. */
export function isPlainAnswer(turn: Turn): boolean {
  return turn.output !== null && turn.calls.length === 0;
}

/** Number of the model call that follows a turn. */
export function nextModelSeq(turn: Turn): number {
  return turn.modelSeq + turn.checkCount + turn.calls.length + 1;
}
