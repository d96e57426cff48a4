import type { Decision } from "../agent/decide.ts";
import type { StepIntent } from "../agent/planned_call.ts";
import type { ModelOutput } from "../agent/task_context.ts";
import type { JsonObject } from "../json.ts";
import { createDeltaStream } from "./delta_stream.ts";
import type { TaskRun } from "./task_run.ts";

type ModelCall = Extract<Decision, { kind: "call_model" }>;

/** The model step `seq` as it is written before it runs. */
export function modelIntent(seq: number, { context: { agent, provider } }: TaskRun): StepIntent {
  const name = agent?.model ?? provider?.default_model ?? null;
  return { seq, kind: "model", name, call_id: null, input: null };
}

/**
 * Asks the model, broadcasting its text as it comes.
 *
 * @throws what `CallTaskModel` throws.
 */
export async function runModelCall({ seq, prompt }: ModelCall, run: TaskRun): Promise<void> {
  const { lease, context, transcript, trace, ports, control } = run;
  const intent = modelIntent(seq, run);
  await transcript.begin([intent]);
  const deltas = createDeltaStream(
    (text) => ports.store.broadcastDelta(lease, seq, text),
    ports.clock,
  );
  try {
    const { output, usage } = await trace.modelCall({ seq, ...context }, () =>
      ports.callModel({
        context,
        prompt,
        stream: true,
        onDelta: deltas.push,
        signal: control.signal,
      }));
    transcript.end({ ...intent, state: "done", output: toStored(output), usage });
  } finally {
    await deltas.end();
  }
}

function toStored({ provider_data, ...output }: ModelOutput): JsonObject {
  const tool_calls = output.tool_calls.map(({ malformed, ...call }): JsonObject => (
    malformed === undefined ? call : { ...call, malformed }
  ));
  return { ...output, tool_calls, ...(provider_data === undefined ? {} : { provider_data }) };
}
