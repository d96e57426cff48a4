import { definedOnly } from "../../platform/values/defined_only.ts";
import type { ErrorBody } from "../../platform/errors/swarm_error.ts";
import { isJsonObject, type JsonValue } from "../../platform/values/json.ts";
import type { ProviderTool } from "../../models/llm/model_port.ts";
import type { AgentState } from "./agent_state.ts";
import { buildPrompt, buildSummaryPrompt, FINAL_ANSWER, type Prompt } from "./build_prompt.ts";
import {
  type CompletionTerms,
  completionTerms,
  judgePlainAnswer,
  MAX_CORRECTIONS,
  returnedResults,
} from "./completion.ts";
import { callAfterCut, followUpOf, isCut, joinCutTurns, judgeCutTurn } from "./cut_turn.ts";
import { fitOutput } from "./fit_output.ts";
import { fitPrompt } from "./fit_prompt.ts";
import { type GuardrailCheck, judge } from "./guardrails.ts";
import { offerTools } from "./offer_tools.ts";
import { planTurn } from "./plan_turn.ts";
import type {
  CallIntent,
  PlannedCall,
  ReviewCall,
  RunnableCall,
  SubtaskCall,
} from "./planned_call.ts";
import { chooseProviderTools } from "./provider_tools_review.ts";
import { repetitionFailure } from "./repeated_calls.ts";
import { errorCodeOf, isRejected } from "./step_result.ts";
import type { Agent, LeftOut, Step } from "./task_context.ts";
import {
  isPlainAnswer,
  isSummary,
  lastMessageSeq,
  lastRun,
  nextModelSeq,
  readTurns,
  type Turn,
} from "./turns.ts";

/** Consecutive turns with only invalid calls after which the task fails. */
const MAX_UNUSABLE_TURNS = 3;

/** What a task does next. */
export type Decision =
  /** Asks the model; its answer is step `seq`. */
  | {
    readonly kind: "call_model";
    readonly seq: number;
    readonly prompt: Prompt;
    readonly leftOut: LeftOut;
    /** The step whose text the answer continues, because it was cut at the output limit. */
    readonly continues?: number;
    /** The output limit of this call instead of the agent's; null: as much as the model can write. */
    readonly maxTokens?: number | null;
    /** The first offer of a task that searches for tools, to be recorded with this call. */
    readonly firstOffer?: readonly string[];
    /** Tools that the model's provider runs. */
    readonly providerTools: readonly ProviderTool[];
    /**
     * Guardrails that run in parallel with the call. Its answer is ignored unless they allow the
     * input.
     */
    readonly checks: readonly GuardrailCheck[];
  }
  /** Runs guardrails on the result. */
  | { readonly kind: "check"; readonly checks: readonly GuardrailCheck[] }
  /**
   * Asks the model to summarize the turns up to `through` in step `seq`, so that the next prompt
   * fits.
   */
  | {
    readonly kind: "summarize";
    readonly seq: number;
    readonly prompt: Prompt;
    readonly through: number;
  }
  /** Runs calls in parallel. */
  | { readonly kind: "run_calls"; readonly calls: readonly RunnableCall[] }
  /** Creates subtasks; their results arrive later. */
  | { readonly kind: "spawn"; readonly calls: readonly SubtaskCall[] }
  /** Asks a person and waits. */
  | { readonly kind: "review"; readonly call: ReviewCall }
  /** Waits for the subtasks. */
  | { readonly kind: "park"; readonly awaited: readonly CallIntent[] }
  /** Ends the task with its result; `completion` is the step that produced it, if any. */
  | {
    readonly kind: "finish";
    readonly output: JsonValue;
    readonly completion: CallIntent | null;
  }
  /** Ends the task with an error that a retry cannot fix. */
  | { readonly kind: "fail"; readonly error: ErrorBody };

/**
 * Decides what a task does next. Pure: the same state gives the same decision, so a worker that
 * takes over from a dead one continues where it stopped.
 *
 * Within a turn, subtasks are created first so that they run in parallel with the turn's tool
 * calls. Then the calls run, reviews are requested, and finally the task waits for its subtasks.
 */
export function decide(state: AgentState): Decision {
  const decision = decideUnchecked(state);
  return decision.kind === "finish" ? checkResult(state, decision) : decision;
}

function decideUnchecked(state: AgentState): Decision {
  const turns = joinCutTurns(turnsOfRun(state), completionTerms(state.context).outputSchema);
  const turn = turns.at(-1);
  if (state.context.agent === null) return fail("AGENT_NOT_FOUND", AGENT_GONE);
  if (turn === undefined) return callModel(state, lastMessageSeq(state.steps) + 1);
  if (turn.output === null) return callModel(state, turn.modelSeq);
  if (isPlainAnswer(turn)) {
    if (turn.isRetried) return callModel(state, nextModelSeq(turn));
    return afterCutTurn(state, turn, state.context.agent) ?? afterPlainAnswer(state, turns, turn);
  }
  return afterCalls(state, turns, turn);
}

/** The turns since the last message of the user and the last retry, as they were recorded. */
function turnsOfRun({ steps }: AgentState): readonly Turn[] {
  const begunBy = lastMessageSeq(steps);
  return lastRun(readTurns(steps)).filter((turn) => turn.begunBy === begunBy);
}

/** @returns null for a whole turn. */
function afterCutTurn(state: AgentState, turn: Turn, agent: Agent): Decision | null {
  if (!isCut(turn)) return null;
  const { max_turns: maxTurns } = agent;
  const hasTurnsLeft = maxTurns === null || endedTurns(state) < maxTurns;
  const terms = { ...completionTerms(state.context), ...agent, hasTurnsLeft };
  const verdict = judgeCutTurn(turnsOfRun(state), turn, terms);
  switch (verdict?.kind) {
    case "asked":
      return callModel(state, nextModelSeq(turn));
    case "accepted":
      return { kind: "finish", output: verdict.output, completion: null };
    case "incomplete":
      return fail("MODEL_OUTPUT_CUT", verdict.reason);
    case undefined:
      return null;
  }
}

/** Guardrails check the result before the task ends. */
function checkResult(state: AgentState, finish: Extract<Decision, { kind: "finish" }>): Decision {
  const { context, steps } = state;
  const turn = readTurns(steps).at(-1);
  if (turn === undefined) return finish;
  const verdict = judge({
    stage: "output",
    guardrails: context.guardrails,
    steps,
    content: finish.output,
    messageSeq: lastMessageSeq(steps),
    afterSeq: turn.modelSeq,
    firstSeq: nextModelSeq(turn),
  });
  switch (verdict.kind) {
    case "pending":
      return { kind: "check", checks: verdict.checks };
    case "refused":
      return fail("GUARDRAIL_REFUSED", refusedBy("result", verdict));
    case "allowed":
      return withResult(finish, verdict.content, completionTerms(context));
  }
}

function withResult(
  finish: Extract<Decision, { kind: "finish" }>,
  output: JsonValue,
  { outputSchema }: CompletionTerms,
): Decision {
  if (output === finish.output || outputSchema === null) return { ...finish, output };
  const fit = fitOutput(output, outputSchema);
  if (fit.kind === "fits") return { ...finish, output: fit.output };
  return fail("OUTPUT_SCHEMA_MISMATCH", {
    message: "Cannot complete the task: the guardrail's replacement for the result does not match",
    hint: "Make the guardrail's replacement match output_schema.",
  });
}

function afterPlainAnswer(state: AgentState, turns: readonly Turn[], turn: Turn): Decision {
  if (turn.output?.finish_reason === "refused") return fail("MODEL_REFUSED", REFUSED);
  const terms = completionTerms(state.context);
  const text = turn.output?.text.trim() ?? "";
  const verdict = judgePlainAnswer(text, terms);
  if (verdict.kind === "accepted") {
    return { kind: "finish", output: verdict.output, completion: null };
  }
  if (verdict.kind === "undecided") {
    return fail("OUTPUT_SCHEMA_INVALID", unusableSchema(verdict.reason));
  }
  if (terms.outputSchema !== null) return afterReturnedResult(state, turns, turn, verdict.message);
  const previous = turns.at(-2);
  if (previous === undefined || !isPlainAnswer(previous)) {
    return callModel(state, nextModelSeq(turn));
  }
  if (text === "") return fail("MODEL_OUTPUT_INVALID", EMPTY_ANSWERS);
  return { kind: "finish", output: text, completion: null };
}

/**
 * The model may correct a result that does not match its schema a few times; then the task fails.
 */
function afterReturnedResult(
  state: AgentState,
  turns: readonly Turn[],
  turn: Turn,
  reason: string,
): Decision {
  const returned = returnedResults(turns, completionTerms(state.context));
  return returned > MAX_CORRECTIONS
    ? fail("OUTPUT_SCHEMA_MISMATCH", unfitResult(reason))
    : callModel(state, nextModelSeq(turn));
}

function afterCalls(state: AgentState, turns: readonly Turn[], turn: Turn): Decision {
  const open = planTurn(turns, state);
  const subtasks = open.filter((call) => call.kind === "subtask");
  const unspawned = subtasks.filter(({ intent }) => !state.spawned.has(intent.seq));
  if (unspawned.length > 0) return { kind: "spawn", calls: unspawned };
  const runnable = open.filter(isRunnable);
  if (runnable.length > 0) return { kind: "run_calls", calls: runnable };
  const question = open.find((call) => call.kind === "review");
  if (question !== undefined) return { kind: "review", call: question };
  if (subtasks.length > 0) return { kind: "park", awaited: subtasks.map(({ intent }) => intent) };

  if (turn.isRetried) return callModel(state, nextModelSeq(turn));
  const completion = open.find((call) => call.kind === "completion") ??
    recordedCompletion(turn, completionTerms(state.context));
  if (completion !== undefined) {
    return { kind: "finish", output: completion.output, completion: completion.intent };
  }
  const afterCut = state.context.agent && afterCutTurn(state, turn, state.context.agent);
  if (afterCut !== null) return afterCut;
  const refusal =
    turn.calls.find(({ call, step }) => call.name === "complete_task" && step?.state === "failed")
      ?.step?.output ?? null;
  switch (errorCodeOf(refusal)) {
    case "OUTPUT_SCHEMA_INVALID":
      return fail("OUTPUT_SCHEMA_INVALID", unusableSchema(textOf(refusal)));
    case "OUTPUT_SCHEMA_MISMATCH":
      return afterReturnedResult(state, turns, turn, textOf(refusal));
  }
  if (unusableTurnsInARow(turns) >= MAX_UNUSABLE_TURNS) {
    return fail("MODEL_OUTPUT_INVALID", UNUSABLE_CALLS);
  }
  const repetition = repetitionFailure(turns);
  if (repetition !== null) return { kind: "fail", error: repetition };
  return callModel(state, nextModelSeq(turn));
}

function isRunnable(call: PlannedCall): call is RunnableCall {
  return call.kind === "settled" || call.kind === "tool" || call.kind === "skill" ||
    call.kind === "recall" || call.kind === "save";
}

/**
 * The accepted `complete_task` of a turn whose worker died after recording it, before finishing.
 */
function recordedCompletion(
  turn: Turn,
  { outputSchema }: CompletionTerms,
): { readonly output: JsonValue; readonly intent: null } | undefined {
  const entry = turn.calls.find(({ call, step }) =>
    call.name === "complete_task" && step?.state === "done"
  );
  if (entry === undefined) return undefined;
  const output = entry.call.arguments?.output ?? null;
  if (outputSchema === null) return { output, intent: null };
  const fit = fitOutput(output, outputSchema);
  return { output: fit.kind === "fits" ? fit.output : output, intent: null };
}

function unusableTurnsInARow(turns: readonly Turn[]): number {
  const lastUsable = turns.findLastIndex(({ calls }) =>
    calls.length === 0 || calls.some(({ step }) => !isRejected(step?.output ?? null))
  );
  return turns.length - 1 - lastUsable;
}

function callModel(state: AgentState, firstSeq: number): Decision {
  const { context, steps } = state;
  const { agent, window_tokens: windowTokens } = context;
  if (agent === null) return fail("AGENT_NOT_FOUND", AGENT_GONE);
  if (agent.max_turns !== null && endedTurns(state) >= agent.max_turns) {
    return fail("TURNS_EXCEEDED", turnsSpent(agent.max_turns));
  }
  const seq = afterSummaries(steps, firstSeq);
  const followUp = followUpOf(turnsOfRun(state), agent.max_continuations);
  const offer = offerTools(state);
  const fit = fitPrompt({
    steps,
    windowTokens,
    maxTokens: agent.max_tokens,
    promptWithout: (leftOut, lastTurnChars) =>
      buildPrompt(state, agent, offer, { leftOut, ...definedOnly({ lastTurnChars }) }),
    summaryOf: (span) => buildSummaryPrompt(state, span),
  });
  switch (fit.kind) {
    case "fits": {
      const choice = chooseProviderTools(state, seq);
      if (choice.kind === "ask") return { kind: "review", call: choice.call };
      return checkInput(state, {
        kind: "call_model",
        seq,
        ...callAfterCut(followUp, fit.prompt, context),
        leftOut: fit.leftOut,
        ...definedOnly({ firstOffer: offer.firstOffer }),
        providerTools: choice.tools,
        checks: [],
      });
    }
    case "summarize": {
      const cacheKey = `${context.task.id}:summary`;
      const prompt = { ...fit.prompt, cacheKey, streamedArgument: FINAL_ANSWER };
      return { kind: "summarize", seq, prompt, through: fit.through };
    }
    case "too_large":
      return fail("MODEL_CONTEXT_EXCEEDED", tooLarge(fit.tokens, windowTokens));
  }
}

/** The answers of the current run: a message of the user and a retry start with no turn used. */
function endedTurns(state: AgentState): number {
  const ended = turnsOfRun(state).filter(({ output, isRetried }) => output !== null && !isRetried);
  return state.context.unsent_turns + ended.length;
}

/** The first call of a run is made in parallel with the checks of the run's first message. */
function checkInput(
  { context, steps }: AgentState,
  call: Extract<Decision, { kind: "call_model" }>,
): Decision {
  const begunBy = lastMessageSeq(steps);
  const isFirst = !readTurns(steps).some((turn) => turn.modelSeq > begunBy && turn.output !== null);
  if (!isFirst) return call;
  const message = steps.find(({ seq }) => seq === begunBy);
  const verdict = judge({
    stage: "input",
    guardrails: context.guardrails,
    steps,
    content: message?.kind === "user" ? message.input : context.task.input,
    messageSeq: begunBy,
    afterSeq: begunBy,
    firstSeq: call.seq + 1,
  });
  switch (verdict.kind) {
    case "pending":
      return { ...call, checks: verdict.checks };
    case "refused":
      return fail("GUARDRAIL_REFUSED", refusedBy("input", verdict));
    case "allowed":
      return call;
  }
}

/** A summary takes the step number of the model call that needs it; that call gets the next one. */
function afterSummaries(steps: readonly Step[], seq: number): number {
  const isTaken = (number: number) =>
    steps.some((step) =>
      step.seq === number &&
      (step.kind === "guardrail" || (step.state === "done" && isSummary(step)))
    );
  return isTaken(seq) ? afterSummaries(steps, seq + 1) : seq;
}

interface Reason {
  readonly message: string;
  readonly hint: string;
}

const AGENT_GONE: Reason = {
  message: "Cannot continue the task: its agent has been deleted",
  hint: "Create the task again for another agent.",
};
const REFUSED: Reason = {
  message: "Cannot continue the task: the model refused to answer",
  hint: "Rephrase the input, or give the agent another model.",
};
const EMPTY_ANSWERS: Reason = {
  message: "Cannot continue the task: the model returned two empty answers",
  hint: "Check the agent's max_tokens and system prompt, or give it another model.",
};
const UNUSABLE_CALLS: Reason = {
  message: `Cannot continue the task: ${MAX_UNUSABLE_TURNS} turns in a row held only tool ` +
    "calls that cannot be made",
  hint: "Use a model that supports tool calls; the steps show what it tried.",
};

const refusedBy = (
  what: "input" | "result",
  { guardrail, reason }: { readonly guardrail: string; readonly reason: string },
): Reason => ({
  message: `Cannot continue the task: the guardrail '${guardrail}' refuses the ${what}: ${
    reason.slice(0, 1_000) || "it gave no reason"
  }`,
  hint: what === "input"
    ? "Change the input; a later message continues the task."
    : "Change the request or the agent's instructions.",
});
const turnsSpent = (maxTurns: number): Reason => ({
  message: `Cannot continue the task: it has used all of its agent's ${maxTurns} turns`,
  hint: "Raise the agent's max_turns, or give it a smaller goal.",
});
const tooLarge = (tokens: number, windowTokens: number): Reason => ({
  message: `Cannot call the model: after omitting everything that can be omitted, ` +
    `the prompt has about ${tokens} tokens, and the model's window has ${windowTokens}`,
  hint:
    "Shorten the input or the agent's system prompt, offer it fewer tools, or give it a model " +
    "with a larger window (model_windows says how large it is).",
});
const unusableSchema = (reason: string): Reason => ({
  message: `Cannot check the result against the output schema: ${reason}`,
  hint: "Correct output_schema of the agent or the task, then retry the task.",
});
const unfitResult = (reason: string): Reason => ({
  message: `Cannot complete the task: after ${MAX_CORRECTIONS} corrections the result still does ` +
    `not fit. ${reason.slice(0, 1_000)}`,
  hint: "Simplify output_schema, describe its fields, or give the agent another model.",
});

function textOf(output: JsonValue): string {
  const text = isJsonObject(output) ? output.text : null;
  return typeof text === "string" ? text : "";
}

function fail(code: ErrorBody["code"], reason: Reason): Decision {
  return { kind: "fail", error: { code, ...reason } };
}
