"use client";

import type { ReactNode } from "react";
import { type JobEvent, type Json, readableJson, type Swarm } from "supaswarm/client";
import { useJob } from "supaswarm/react";

export interface JobTraceProps {
  /** `createSwarm(supabase)`, with a signed-in user. */
  readonly swarm: Pick<Swarm, "view">;
  readonly jobId: string;
}

type StepState = "running" | "waiting" | "done" | "failed";

interface Step {
  readonly key: string;
  readonly label: string;
  readonly state: StepState;
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly detail: string;
  /** The subtask that this step waits for. */
  readonly subtaskId?: string;
}

/** What the tasks of a job did, as it happens: model calls, tool calls, reviews and subtasks. */
export function JobTrace({ swarm, jobId }: JobTraceProps): ReactNode {
  const { status, events, error } = useJob(swarm, jobId, { text: false });
  return (
    <section aria-label="Trace" className="flex flex-col gap-2 text-sm">
      <p role="status" className="text-muted-foreground">
        {status === null ? "Loading…" : status.replaceAll("_", " ")}
      </p>
      {error !== null && <p role="alert" className="text-destructive">{error.message}</p>}
      <StepList taskId={jobId} steps={stepsOf(events)} />
    </section>
  );
}

function StepList({ taskId, steps }: {
  readonly taskId: string;
  readonly steps: ReadonlyMap<string, readonly Step[]>;
}) {
  const own = steps.get(taskId) ?? [];
  if (own.length === 0) return null;
  return (
    <ol className="flex flex-col gap-1 border-l border-border pl-3">
      {own.map((step) => (
        <li key={step.key}>
          <details>
            <summary className="flex cursor-pointer items-baseline gap-2 rounded-md px-1 hover:bg-muted">
              <span aria-hidden className={COLORS[step.state]}>●</span>
              <span className="flex-1 truncate">{step.label}</span>
              <span className="sr-only">{step.state}</span>
              <span className="tabular-nums text-muted-foreground">{durationOf(step)}</span>
            </summary>
            <pre
              tabIndex={0}
              aria-label={`Details of ${step.label}`}
              className="max-h-60 overflow-auto whitespace-pre-wrap rounded-md bg-muted p-2 text-xs"
            >
              {step.detail}
            </pre>
          </details>
          {step.subtaskId !== undefined && <StepList taskId={step.subtaskId} steps={steps} />}
        </li>
      ))}
    </ol>
  );
}

const COLORS: Readonly<Record<StepState, string>> = {
  running: "text-primary",
  waiting: "text-muted-foreground",
  done: "text-foreground",
  failed: "text-destructive",
};

/** The steps of each task by its id. */
function stepsOf(events: readonly JobEvent[]): ReadonlyMap<string, readonly Step[]> {
  const tasks = new Map<string, Map<string, Step>>();
  for (const event of events) {
    const steps = tasks.get(event.task_id) ?? new Map<string, Step>();
    tasks.set(event.task_id, steps);
    const change = changeOf(event);
    if (change === null) continue;
    const { key, ...changed } = change;
    const before = steps.get(key);
    const begun = { key, label: "", startedAt: event.at, endedAt: null, detail: "" };
    steps.set(key, { ...begun, ...before, ...changed });
  }
  return new Map([...tasks].map(([id, steps]) => [id, [...steps.values()]]));
}

type StepChange = Pick<Step, "key" | "state"> & Partial<Step>;

function changeOf(event: JobEvent): StepChange | null {
  const { at, type, data } = event;
  switch (type) {
    case "model.started":
      return { key: `${data.step_seq}`, label: "Model call", state: "running", endedAt: null };
    case "model.completed": {
      const detail = data.text || textOf(data.tool_calls?.map(({ name }) => name) ?? []);
      return { key: `${data.step_seq}`, label: "Model call", state: "done", endedAt: at, detail };
    }
    case "model.interrupted":
      return { key: `${data.step_seq}`, label: "Model call", state: "failed", endedAt: at };
    case "tool.started":
      return {
        key: `${data.step_seq}`,
        label: data.name,
        state: "running",
        endedAt: null,
        detail: textOf(data.arguments ?? null),
      };
    case "tool.completed":
    case "tool.failed":
      return {
        key: data.step_seq === undefined ? `event ${event.id}` : `${data.step_seq}`,
        label: data.name ?? data.server ?? "Tool",
        state: type === "tool.failed" ? "failed" : "done",
        endedAt: at,
        ...data.text !== undefined && { detail: data.text },
      };
    case "review.requested":
      return {
        key: `${data.step_seq}`,
        label: `Review: ${data.question}`,
        state: "waiting",
        endedAt: null,
      };
    case "review.answered":
      return {
        key: `${data.step_seq}`,
        state: data.approved ? "done" : "failed",
        endedAt: at,
        detail: `${data.approved ? "Approved" : "Rejected"}. ${data.comments ?? ""}`,
      };
    case "subtask.created":
      return {
        key: `${data.step_seq}`,
        label: `Subtask: ${data.agent}`,
        state: "running",
        subtaskId: data.subtask_id,
      };
    case "subtask.finished":
      return {
        key: `${data.step_seq}`,
        state: data.status === "completed" ? "done" : "failed",
        endedAt: at,
        detail: data.status,
      };
    default:
      return null;
  }
}

function durationOf({ startedAt, endedAt }: Step): string {
  if (endedAt === null) return "…";
  const ms = Math.max(0, Date.parse(endedAt) - Date.parse(startedAt));
  return ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s`;
}

function textOf(value: Json): string {
  return typeof value === "string" ? value : readableJson(value);
}
