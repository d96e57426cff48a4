import { stepKey, type TraceStep, type TraceTask } from "./trace_model.ts";

/** A message of the job's channel. */
export interface JobEvent {
  readonly type: string;
  readonly task_id: string;
  readonly at: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The parts of a job that events change. */
export interface LiveTrace {
  readonly tasks: Map<string, TraceTask>;
  readonly steps: Map<string, TraceStep>;
  /** Text that a model is writing, by step. */
  readonly texts: Map<string, string>;
}

const STATUS_AFTER: Readonly<Record<string, string>> = {
  "task.started": "running",
  "task.resumed": "running",
  "task.retried": "pending",
  "task.completed": "completed",
  "task.failed": "failed",
  "task.cancelled": "cancelled",
};

/**
 * Updates the trace from an event, so that the change is visible in the next frame. The database
 * rows follow and are authoritative.
 */
export function applyEvent(trace: LiveTrace, event: JobEvent): void {
  const { type, data } = event;
  const status = type === "task.parked" ? String(data.status) : STATUS_AFTER[type];
  if (status !== undefined) changeTask(trace, event, status);
  const seq = typeof data.step_seq === "number" ? data.step_seq : null;
  if (seq === null) return;
  const key = stepKey({ task_id: event.task_id, seq });
  switch (type) {
    case "model.delta":
      trace.texts.set(key, withDelta(trace.texts.get(key) ?? "", data));
      break;
    case "model.started":
      trace.texts.delete(key);
      startStep(trace, event, { seq, kind: "model", name: null });
      break;
    case "tool.started":
      startStep(trace, event, { seq, kind: "tool", name: textOf(data.name) });
      break;
    case "review.requested":
      startStep(trace, event, { seq, kind: "system", name: "request_human_review" });
      break;
    case "subtask.created":
      startStep(trace, event, { seq, kind: "system", name: "create_subtask" });
      break;
    case "model.completed":
      trace.texts.delete(key);
      endStep(trace, event, { key, state: "done" });
      break;
    case "tool.completed":
    case "review.answered":
    case "subtask.finished":
      endStep(trace, event, { key, state: "done" });
      break;
    case "step.completed":
    case "step.failed":
      // A step of a workflow is recorded at its end, and one that waits also before.
      startStep(trace, event, { seq, kind: "step", name: textOf(data.name) });
      endStep(trace, event, { key, state: type === "step.completed" ? "done" : "failed" });
      break;
    case "tool.failed":
      endStep(trace, event, { key, state: "failed" });
      break;
  }
}

/** Each delta contains the number of UTF-16 units before it in the answer. */
function withDelta(before: string, { offset, text }: Readonly<Record<string, unknown>>): string {
  const at = typeof offset === "number" ? offset : before.length;
  return before.slice(0, at) + (typeof text === "string" ? text : "");
}

function changeTask({ tasks }: LiveTrace, { task_id: id, at }: JobEvent, status: string): void {
  const task = tasks.get(id);
  if (task === undefined) return;
  const hasEnded = status === "completed" || status === "failed" || status === "cancelled";
  tasks.set(id, {
    ...task,
    status,
    started_at: task.started_at ?? (status === "running" ? at : null),
    finished_at: hasEnded ? at : null,
  });
}

function startStep(
  { steps }: LiveTrace,
  { task_id: taskId, at, data }: JobEvent,
  { seq, kind, name }: {
    readonly seq: number;
    readonly kind: string;
    readonly name: string | null;
  },
): void {
  const key = stepKey({ task_id: taskId, seq });
  if (steps.has(key)) return;
  steps.set(key, {
    task_id: taskId,
    seq,
    kind,
    name,
    server: textOf(data.server),
    state: "started",
    error_code: null,
    usage: null,
    cost_micro_usd: null,
    interruptions: 0,
    started_at: at,
    ended_at: null,
    summary: null,
  });
}

function endStep(
  { steps }: LiveTrace,
  { at, data }: JobEvent,
  { key, state }: { readonly key: string; readonly state: string },
): void {
  const step = steps.get(key);
  if (step === undefined || step.ended_at !== null) return;
  const usage = data.usage as TraceStep["usage"] | undefined;
  steps.set(key, {
    ...step,
    state,
    error_code: data.finish_reason === "length" ? "MODEL_OUTPUT_CUT" : textOf(data.error_code),
    usage: usage ?? step.usage,
    ended_at: at,
  });
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
