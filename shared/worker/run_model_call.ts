import type { Decision, Prompt } from "../agent/decide.ts";
import type { StepIntent } from "../agent/planned_call.ts";
import type { TaskContext } from "../agent/task_context.ts";
import { SwarmError } from "../errors/swarm_error.ts";
import type { JsonObject } from "../json.ts";
import type { ModelUsageRecord } from "../llm/call_model.ts";
import { createDeltaStream } from "./delta_stream.ts";
import { ModelCallUnderWay } from "./model_call_under_way.ts";
import type { TaskRun } from "./task_run.ts";
import type { CutCall } from "./task_store.ts";

type ModelCall = Extract<Decision, { kind: "call_model" }>;
type Summary = Extract<Decision, { kind: "summarize" }>;

/**
 * The model step `seq` as it is written before it runs.
 *
 * @param input What the call leaves out or sums up; null: neither. @default null
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
 * Lets the model sum up old turns, as a step of its own. Nobody watches it: it is not an answer.
 *
 * @throws MODEL_OUTPUT_INVALID for an empty summary, and what `CallTaskModel` throws.
 */
export async function runSummary({ seq, prompt, through }: Summary, run: TaskRun): Promise<void> {
  const { agent } = run.context;
  // What limits and tools an answer has, a summary has not.
  const context = {
    ...run.context,
    agent: agent && { ...agent, max_tokens: null, provider_tools: [] },
  };
  const intent = modelIntent(seq, run, { summarizes_through: through });
  await ask({ intent, prompt, context, mayStream: false }, run);
}

/**
 * Asks the model. While somebody watches the job, the answer streams and its text is broadcast as
 * it comes; a call that begins unwatched gets its answer whole.
 *
 * @throws what `CallTaskModel` throws.
 */
export async function runModelCall(
  { seq, prompt, leftOut }: ModelCall,
  run: TaskRun,
): Promise<void> {
  const isWhole = leftOut.results_through === 0 && leftOut.summary_seq === null;
  const intent = modelIntent(seq, run, isWhole ? null : { left_out: { ...leftOut } });
  await ask({ intent, prompt, context: run.context, mayStream: true }, run);
}

interface Asking {
  readonly intent: StepIntent;
  readonly prompt: Prompt;
  readonly context: TaskContext;
  readonly mayStream: boolean;
}

async function ask({ intent, prompt, context, mayStream }: Asking, run: TaskRun): Promise<void> {
  const { lease, transcript, underWay, trace, ports, control, watch } = run;
  const { seq } = intent;
  await transcript.begin([intent]);
  const deltas = createDeltaStream({
    send: (delta) => ports.store.broadcastDelta(lease, seq, delta),
    isWatched: () => watch.isOn,
    pace: run.deltaPace,
    clock: ports.clock,
  });
  const begin = () =>
    new ModelCallUnderWay({
      seq,
      prompt,
      maxTokens: context.agent?.max_tokens ?? null,
      clock: ports.clock,
    });
  let call = underWay.modelCall = begin();
  const cutCalls: CutCall[] = [];
  try {
    const { answer, usage } = await trace.modelCall({ seq, ...context }, () =>
      ports.callModel({
        context,
        prompt,
        // Whole answers cost less CPU, so what was cut off once is not streamed again.
        stream: mayStream && watch.isOn && !context.task.works_alone,
        onDelta: (text) => {
          call.receive(text);
          deltas.push(text);
        },
        onFallback: () => {
          if (call.hasAnswer) cutCalls.push(call.estimate());
          call = underWay.modelCall = begin();
          deltas.restart();
        },
        signal: control.signal,
      }));
    if (!mayStream && answer.text.trim() === "") throw emptySummary();
    underWay.modelCall = null;
    for (const cut of cutCalls) await ports.store.loseCall(lease, cut);
    transcript.end({ ...intent, state: "done", output: answer, usage: toStored(usage) });
  } finally {
    await deltas.end();
  }
}

function emptySummary(): SwarmError {
  return new SwarmError("MODEL_OUTPUT_INVALID", "Cannot sum up the task: the summary is empty", {
    hint: "Give the agent another model, or one with a larger window (model_windows).",
  });
}

function toStored({ passed_over: passed, ...usage }: ModelUsageRecord): JsonObject {
  return passed === undefined
    ? usage
    : { ...usage, passed_over: passed.map((provider) => ({ ...provider })) };
}
