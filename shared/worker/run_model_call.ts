import type { Decision } from "../agent/decide.ts";
import type { StepIntent } from "../agent/planned_call.ts";
import type { JsonObject } from "../json.ts";
import type { ModelUsageRecord } from "../llm/call_model.ts";
import { createDeltaStream } from "./delta_stream.ts";
import { ModelCallUnderWay } from "./model_call_under_way.ts";
import type { TaskRun } from "./task_run.ts";
import type { CutCall } from "./task_store.ts";

type ModelCall = Extract<Decision, { kind: "call_model" }>;

/** The model step `seq` as it is written before it runs. */
export function modelIntent(seq: number, { context: { agent, provider } }: TaskRun): StepIntent {
  const name = agent?.model ?? provider?.default_model ?? null;
  return { seq, kind: "model", name, call_id: null, input: null };
}

/**
 * Asks the model. While somebody watches the job, the answer streams and its text is broadcast as
 * it comes; a call that begins unwatched gets its answer whole.
 *
 * @throws what `CallTaskModel` throws.
 */
export async function runModelCall({ seq, prompt }: ModelCall, run: TaskRun): Promise<void> {
  const { lease, context, transcript, underWay, trace, ports, control, watch } = run;
  const intent = modelIntent(seq, run);
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
        stream: watch.isOn && !context.task.works_alone,
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
    underWay.modelCall = null;
    for (const cut of cutCalls) await ports.store.loseCall(lease, cut);
    transcript.end({ ...intent, state: "done", output: answer, usage: toStored(usage) });
  } finally {
    await deltas.end();
  }
}

function toStored({ passed_over: passed, ...usage }: ModelUsageRecord): JsonObject {
  return passed === undefined
    ? usage
    : { ...usage, passed_over: passed.map((provider) => ({ ...provider })) };
}
