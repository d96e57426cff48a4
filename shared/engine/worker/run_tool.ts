import { ApprovalRequired } from "../../gateway/tool_contracts/approval.ts";
import { checkedMessage } from "../agent/guardrails.ts";
import type { ToolCall } from "../agent/planned_call.ts";
import { errorResult, type StepResult } from "../agent/step_result.ts";
import { stillUnknownResult } from "../agent/unknown_outcome.ts";
import { definedOnly } from "../../platform/values/defined_only.ts";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import type { JsonValue } from "../../platform/values/json.ts";
import {
  hasExceededRetries,
  toolErrorMessage,
} from "../../gateway/tools/learning/retry_message.ts";
import type {
  AnsweredCall,
  ToolCallOutcome,
  ToolCallRequest,
} from "../../gateway/tool_contracts/tool_call.ts";
import { createDeltaStream } from "./delta_stream.ts";
import { byteLength } from "../../platform/values/byte_length.ts";
import { keepContent } from "./keep_content.ts";
import { headOf, headText, jsonTextOf, MAX_INLINE_BYTES, referenceTo } from "./large_values.ts";
import { storeArtifact } from "./store_artifact.ts";
import type { StepRecord } from "./task_store.ts";
import { artifactPath, callerOf, type TaskRun } from "./task_run.ts";

/** How long a call waits for its rate limit; the model must handle a longer wait. */
const MAX_RATE_LIMIT_WAIT_SECONDS = 20;

/**
 * Calls a registry tool through the gateway.
 *
 * @returns The ended step; null if a person must be asked: before the call, which was not made, or
 * because its outcome is unknown.
 * @throws WORK_PAUSED if the task must wait for the tool.
 */
export async function runTool(call: ToolCall, run: TaskRun): Promise<StepRecord | null> {
  const outcome = await withDeltas(
    call,
    run,
    (onText) =>
      run.trace.toolCall(
        call,
        (headers) => callWithinRateLimit({ ...requestOf(call, run), ...headers, onText }, run),
      ),
  );
  if (outcome instanceof ApprovalRequired) {
    run.asked.set(call.intent.seq, outcome.question);
    run.transcript.markUntried(call.intent.seq);
    return null;
  }
  if (outcome instanceof SwarmError && outcome.code === "WORK_PAUSED") {
    // An earlier try of a repeated call may have had its effect.
    if (!call.isRerun) run.transcript.markUntried(call.intent.seq);
    throw outcome;
  }
  if (outcome instanceof SwarmError) {
    return { ...call.intent, ...errorResult(outcome.code, outcome.message) };
  }
  if (outcome.kind === "unknown") {
    return call.isRerun ? { ...call.intent, ...stillUnknownResult(outcome.message) } : null;
  }
  if (outcome.kind === "input_required") {
    const message = `'${call.tool.server}' requests input that an agent cannot provide`;
    return { ...call.intent, ...errorResult("TOOL_FAILED", message) };
  }
  run.transcript.hide(outcome.unrecordedValues ?? []);
  const { text, files } = await keepContent(call, outcome, run);
  const noticed = call.notice === null ? text : `${call.notice}\n${text}`;
  const { state, output } = answeredResult(call, { ...outcome, text: noticed }, run);
  const result = files.length === 0
    ? { state, output }
    : { state, output: { ...output, files: files.map((file) => ({ ...file })) } };
  return { ...call.intent, ...await shorten(call, result, run) };
}

/** Waits out a short rate limit: nothing was called, so nothing is repeated. */
async function callWithinRateLimit(
  { onText, ...request }: StreamableRequest,
  run: TaskRun,
): Promise<ToolCallOutcome | SwarmError> {
  const { ports: { gateway, clock }, control: { signal } } = run;
  const giveUpAtMs = clock.nowMs() + MAX_RATE_LIMIT_WAIT_SECONDS * 1_000;
  while (true) {
    try {
      return await gateway.call({ ...request, ...definedOnly({ onText }) }, signal);
    } catch (error) {
      if (error instanceof ApprovalRequired) return error;
      if (!(error instanceof SwarmError)) throw error;
      if (error.code === "WORK_PAUSED") return error;
      if (error.code !== "TOOL_RATE_LIMITED") throw error;
      const waitMs = (error.retryAfterSeconds ?? 1) * 1_000;
      if (clock.nowMs() + waitMs > giveUpAtMs) return error;
      await clock.sleep(waitMs, signal);
      // Records that the call was not made, in case the task is stopped.
      if (signal.aborted) return error;
    }
  }
}

/** A request with an optional receiver of the text. */
type StreamableRequest = Omit<ToolCallRequest, "onText"> & {
  readonly onText: ToolCallRequest["onText"];
};

/** Broadcasts the answer's text as it streams in, while the job is watched. */
async function withDeltas<T>(
  { intent: { seq } }: ToolCall,
  { lease, watch, deltaPace: pace, control, ports: { store, clock } }: TaskRun,
  work: (onText: ToolCallRequest["onText"]) => Promise<T>,
): Promise<T> {
  // Complete answers cost less CPU.
  const release = watch.isOn ? control.reserveStream() : null;
  if (release === null) return await work(undefined);
  const deltas = createDeltaStream({
    send: (delta) => store.broadcastDelta(lease, seq, delta),
    isWatched: () => watch.isOn,
    pace,
    clock,
  });
  try {
    return await work(({ text, isRestart }) => {
      if (isRestart) deltas.restart();
      deltas.push(text);
    });
  } finally {
    release();
    await deltas.end();
  }
}

function requestOf(call: ToolCall, { lease, context, transcript }: TaskRun) {
  return {
    server: call.tool.server,
    toolName: call.tool.toolName,
    arguments: call.arguments,
    caller: callerOf(context),
    stepSeq: call.intent.seq,
    attempt: call.attempt,
    idempotencyKey: `${lease.taskId}:${call.intent.seq}`,
    approval: { readFlows: call.readFlows, toolFlows: call.tool.dataFlows },
    onRecording: (recorded: Promise<void>) => transcript.waitFor(recorded),
  };
}

function answeredResult(call: ToolCall, answer: AnsweredCall, run: TaskRun): StepResult {
  const trail = { execution_id: answer.executionId, feedback_token: answer.feedbackToken };
  if (!answer.isError) {
    const structured = definedOnly({ structured: answer.structured });
    return {
      state: "done",
      output: { text: answer.text, ...structured, is_error: false, ...trail },
    };
  }
  const failure = {
    tool: call.tool,
    arguments: call.arguments,
    error: answer.text,
    errorCode: answer.errorCode,
    attempt: call.attempt,
    request: jsonTextOf(masterInput(run)),
  };
  const code = hasExceededRetries(failure) ? "EXCEEDED_RETRIES" : answer.errorCode ?? "TOOL_FAILED";
  return errorResult(code, answer.text, { ...trail, advice: toolErrorMessage(failure) });
}

/** The input of the master task as its guardrails allowed it. */
function masterInput({ context: { task }, transcript }: TaskRun): JsonValue {
  if (task.parent_id !== null) return task.master_input;
  return checkedMessage(transcript.steps, 0, task.master_input);
}

/** A large result is stored in Storage; the step contains its head. */
async function shorten(
  call: ToolCall,
  { state, output }: StepResult,
  run: TaskRun,
): Promise<ShortResult> {
  if (byteLength(JSON.stringify(output)) <= MAX_INLINE_BYTES) return { state, output };
  // Structured content repeats the text in another form; without it the text may fit.
  const { text, structured: _, ...rest } = output;
  const whole = typeof text === "string" ? text : "";
  if (byteLength(whole) <= MAX_INLINE_BYTES) return { state, output: { ...rest, text: whole } };

  const path = artifactPath(run.context, `_step-${call.intent.seq}.txt`);
  try {
    const reference = referenceTo(path, whole);
    await storeArtifact({ path, body: whole, contentType: "text/plain; charset=utf-8" }, run);
    const short = {
      ...rest,
      text: headText(reference),
      bytes: reference.bytes,
      storage_path: path,
    };
    return { state, output: short, storage_path: path };
  } catch (error) {
    if (!(error instanceof SwarmError)) throw error;
    // The tool has run: its result may be truncated, but must not be lost for lack of space.
    const note = "[cut here: the rest could not be stored; request less in one call]";
    return {
      state,
      output: { ...rest, text: `${headOf(whole)}\n${note}`, error_code: error.code },
    };
  }
}

interface ShortResult extends StepResult {
  readonly storage_path?: string;
}
