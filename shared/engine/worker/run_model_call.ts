import { createContinuedStream, withoutRepetition } from "../agent/continued_text.ts";
import { textThrough } from "../agent/cut_turn.ts";
import type { Prompt } from "../agent/build_prompt.ts";
import type { Decision } from "../agent/decide.ts";
import type { GuardrailCheck } from "../agent/guardrails.ts";
import type { StepIntent } from "../agent/planned_call.ts";
import type { TaskContext } from "../agent/task_context.ts";
import { readTurns } from "../agent/turns.ts";
import { definedOnly } from "../../platform/values/defined_only.ts";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import type { JsonObject } from "../../platform/values/json.ts";
import type { ModelUsageRecord } from "../../models/llm/call_model.ts";
import { createDeltaStream } from "./delta_stream.ts";
import { ModelCallUnderWay } from "./model_call_under_way.ts";
import { isPlainPass, runChecks } from "./run_checks.ts";
import type { TaskRun } from "./task_run.ts";
import type { CutCall, StepRecord } from "./task_store.ts";

/**
 * Each read of a stream costs CPU, and what ends between two reads is noticed with the next one: a
 * pause is this part of the time that the stream has taken.
 */
const PAUSE_SHARE = 0.05;
const MIN_PAUSE_MS = 200;
/** The interval of the messages with its text: reading a stream more often only costs CPU. */
const WATCHED_PAUSE_MS = 500;
/** While nobody watches, or the isolate would be ended before its streams: a fraction of the CPU. */
const MAX_PAUSE_MS = 2_000;

type ModelCall = Extract<Decision, { kind: "call_model" }>;
type Summary = Extract<Decision, { kind: "summarize" }>;

/**
 * The model step `seq` as recorded before the call.
 *
 * @param input What the call omits, summarizes or offers first; null for none of it. @default null
 */
export function modelIntent(
  seq: number,
  { context: { agent, provider } }: TaskRun,
  input: JsonObject | null = null,
): StepIntent {
  const name = agent?.model ?? provider?.default_model ?? null;
  return { seq, kind: "model", name, call_id: null, input };
}

/**
 * Asks the model to summarize old turns, as a separate step. It is not streamed, because it is not
 * an answer.
 *
 * @throws MODEL_OUTPUT_INVALID for an empty summary, MODEL_OUTPUT_CUT for an incomplete one, and
 * errors of `CallTaskModel`.
 */
export async function runSummary({ seq, prompt, through }: Summary, run: TaskRun): Promise<void> {
  const { agent } = run.context;
  // A summary has no output limits and tools.
  const context = {
    ...run.context,
    agent: agent && { ...agent, max_tokens: null, provider_tools: [] },
  };
  const intent = modelIntent(seq, run, { summarizes_through: through });
  await run.transcript.begin([intent]);
  const record = await ask({ intent, prompt, context, mayStream: false }, run);
  const problem = problemOfSummary(record.output);
  if (problem !== null) {
    await bookVoidAnswer(seq, record, run);
    throw problem;
  }
  run.transcript.end(record);
}

/**
 * Calls the model. While the job is watched, the answer streams and its text is broadcast; a call
 * that starts unwatched is not streamed.
 *
 * @throws errors of `CallTaskModel`.
 */
export async function runModelCall(
  { seq, prompt, providerTools, checks, ...recorded }: ModelCall,
  run: TaskRun,
): Promise<void> {
  const intent = modelIntent(seq, run, modelInputOf(recorded));
  const { transcript } = run;
  const { agent } = run.context;
  const { maxTokens = agent?.max_tokens ?? null } = recorded;
  const context = {
    ...run.context,
    agent: agent && { ...agent, max_tokens: maxTokens, provider_tools: [...providerTools] },
  };
  await transcript.begin([intent, ...checks.map((check) => check.intent)]);
  const mayStream = checks.length === 0 && !isResultChecked(context);
  const asking: Asking = {
    intent,
    prompt,
    context,
    mayStream,
    before: textThrough(readTurns(transcript.steps), recorded.continues),
    hasOptionalLimit: recorded.maxTokens !== undefined,
  };
  if (checks.length === 0) transcript.end(await ask(asking, run));
  else await askBesideChecks(asking, checks, run);
}

/** What a step records of its model call for later decisions; null for none of it. */
export function modelInputOf(
  { leftOut, continues, maxTokens, firstOffer }: Pick<
    ModelCall,
    "leftOut" | "continues" | "maxTokens" | "firstOffer"
  >,
): JsonObject | null {
  const isWhole = leftOut.results_through === 0 && leftOut.summary_seq === null;
  const input = {
    ...isWhole ? {} : { left_out: { ...leftOut } },
    ...definedOnly({ continues, max_tokens: maxTokens }),
    ...firstOffer === undefined ? {} : { offered_tools: [...firstOffer] },
  };
  return Object.keys(input).length === 0 ? null : input;
}

/** An answer that guardrails must allow first is not streamed. */
function isResultChecked({ guardrails }: TaskContext): boolean {
  return guardrails.some(({ stage }) => stage === "output");
}

/**
 * Calls the model while guardrails check the input. The answer is used only if all of them allow
 * the input unchanged; otherwise the call is discarded and its cost is booked.
 */
async function askBesideChecks(
  asking: Asking,
  checks: readonly GuardrailCheck[],
  run: TaskRun,
): Promise<void> {
  const stopper = new AbortController();
  const signal = AbortSignal.any([run.control.signal, stopper.signal]);
  const answering = ask({ ...asking, signal }, run).then(
    (record) => ({ record, error: null }),
    (error: unknown) => ({ record: null, error }),
  );
  const giveUp = async () => {
    stopper.abort();
    await bookVoidAnswer(asking.intent.seq, (await answering).record, run);
  };
  let verdicts: readonly StepRecord[];
  try {
    verdicts = await runChecks(checks, run);
  } catch (error) {
    await giveUp();
    throw error;
  }
  for (const verdict of verdicts) run.transcript.end(verdict);
  if (!verdicts.every(isPlainPass)) return await giveUp();
  const { record, error } = await answering;
  if (record === null) throw error;
  run.transcript.end(record);
}

/** A discarded answer still costs money. */
async function bookVoidAnswer(
  seq: number,
  record: StepRecord | null,
  { lease, ports: { store }, underWay }: TaskRun,
): Promise<void> {
  const used = record?.usage;
  const cut = used === undefined ? underWay.modelCall?.estimate() : {
    seq,
    input_tokens: Number(used.input_tokens ?? 0),
    output_tokens: Number(used.output_tokens ?? 0),
  };
  underWay.modelCall = null;
  if (cut !== undefined) await store.loseCall(lease, cut);
}

interface Asking {
  readonly intent: StepIntent;
  readonly prompt: Prompt;
  readonly context: TaskContext;
  readonly mayStream: boolean;
  /** The text that the answer continues. @default none */
  readonly before?: string;
  /** See {@linkcode TaskModelCall}. @default false */
  readonly hasOptionalLimit?: boolean;
  /** @default the run's own */
  readonly signal?: AbortSignal;
}

/** @returns The ended step, which is not yet written. */
async function ask(
  { intent, prompt, context, mayStream, before = "", hasOptionalLimit = false, signal }: Asking,
  run: TaskRun,
): Promise<StepRecord> {
  const { lease, underWay, trace, ports, control, watch } = run;
  const { seq } = intent;
  const deltas = createDeltaStream({
    send: (delta) => ports.store.broadcastDelta(lease, seq, delta),
    isWatched: () => watch.isOn,
    pace: run.deltaPace,
    clock: ports.clock,
  });
  const shown = createContinuedStream(before, (text) => deltas.push(text));
  const begin = () =>
    new ModelCallUnderWay({
      seq,
      prompt,
      maxTokens: context.agent?.max_tokens ?? null,
      clock: ports.clock,
    });
  let call = underWay.modelCall = begin();
  const cutCalls: CutCall[] = [];
  const mayReserve = mayStream && watch.isOn && !wasInterrupted(seq, context);
  const release = mayReserve ? control.reserveStream() : null;
  const arrive = release ?? control.awaitWhole();
  const beganAtMs = ports.clock.nowMs();
  try {
    const { answer, usage } = await trace.modelCall({ seq, ...context }, () =>
      ports.callModel({
        context,
        prompt,
        hasOptionalLimit,
        stream: release !== null,
        onDelta: (text) => {
          call.receive(text);
          shown.push(text);
        },
        streamPauseMs: () => {
          if (control.isShortOfCpu()) return MAX_PAUSE_MS;
          const sinceMs = ports.clock.nowMs() - beganAtMs;
          const mostMs = watch.isOn ? WATCHED_PAUSE_MS : MAX_PAUSE_MS;
          return Math.min(Math.max(MIN_PAUSE_MS, PAUSE_SHARE * sinceMs), mostMs);
        },
        onFallback: () => {
          if (call.hasAnswer) cutCalls.push(call.estimate());
          call = underWay.modelCall = begin();
          deltas.restart();
          shown.restart();
        },
        signal: AbortSignal.any([signal ?? control.signal, control.paused]),
      }));
    underWay.modelCall = null;
    for (const cut of cutCalls) await ports.store.loseCall(lease, cut);
    shown.end();
    const output = { ...answer, text: withoutRepetition(before, answer.text) };
    return { ...intent, state: "done", output, usage: toStored(usage) };
  } finally {
    arrive();
    await deltas.end();
  }
}

/** Complete answers cost less CPU, so a call that was cut off once is not streamed again. */
function wasInterrupted(seq: number, { steps }: TaskContext): boolean {
  return steps.some((step) =>
    step.kind === "model" && step.seq === seq && (step.interruptions ?? 0) > 0
  );
}

function problemOfSummary({ text, finish_reason: reason }: JsonObject): SwarmError | null {
  const hint = "Give the agent another model, or one with a larger window (model_windows).";
  if (reason === "length") {
    const message = "Cannot summarize the task: the summary was cut at the output limit";
    return new SwarmError("MODEL_OUTPUT_CUT", message, { hint });
  }
  if (String(text).trim() !== "") return null;
  const message = "Cannot summarize the task: the summary is empty";
  return new SwarmError("MODEL_OUTPUT_INVALID", message, { hint });
}

function toStored({ passed_over: passed, ...usage }: ModelUsageRecord): JsonObject {
  return passed === undefined
    ? usage
    : { ...usage, passed_over: passed.map((provider) => ({ ...provider })) };
}
