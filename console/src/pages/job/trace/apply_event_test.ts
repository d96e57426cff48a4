import { expect, test } from "vitest";
import { applyEvent, type JobEvent, type LiveTrace } from "./apply_event.ts";

const AT = "2026-11-01T10:00:00Z";

function emptyJob(): LiveTrace {
  const job = {
    id: "job",
    parent_id: null,
    parent_step_seq: null,
    agent_slug: "planner",
    status: "pending",
    created_at: AT,
    started_at: null,
    finished_at: null,
  };
  return { tasks: new Map([["job", job]]), steps: new Map(), texts: new Map() };
}

function event(type: string, data: Record<string, unknown> = {}): JobEvent {
  return { type, task_id: "job", at: AT, data };
}

test("applyEvent() writes a repeated delta once", () => {
  const trace = emptyJob();
  const second = event("model.delta", { step_seq: 1, offset: 5, text: " world" });
  applyEvent(trace, event("model.delta", { step_seq: 1, offset: 0, text: "hello" }));
  applyEvent(trace, second);
  applyEvent(trace, second);
  expect(trace.texts.get("job:1")).toBe("hello world");
});

test("applyEvent() replaces the text when an answer starts again", () => {
  const trace = emptyJob();
  applyEvent(trace, event("model.delta", { step_seq: 1, offset: 0, text: "half an ans" }));
  applyEvent(trace, event("model.delta", { step_seq: 1, offset: 0, text: "anew" }));
  expect(trace.texts.get("job:1")).toBe("anew");
});

test("applyEvent() marks an answer that the output limit has cut", () => {
  const trace = emptyJob();
  applyEvent(trace, event("model.started", { step_seq: 1 }));
  applyEvent(trace, event("model.completed", { step_seq: 1, finish_reason: "length" }));
  expect(trace.steps.get("job:1")).toMatchObject({ state: "done", error_code: "MODEL_OUTPUT_CUT" });
});

test("applyEvent() does not restart a finished step after a late event", () => {
  const trace = emptyJob();
  applyEvent(trace, event("tool.started", { step_seq: 2, name: "read", server: "files" }));
  applyEvent(trace, event("tool.failed", { step_seq: 2, error_code: "TOOL_FAILED" }));
  applyEvent(trace, event("tool.started", { step_seq: 2, name: "read" }));
  expect(trace.steps.get("job:2")).toMatchObject({ state: "failed", error_code: "TOOL_FAILED" });
});

test("applyEvent() changes the task's status when it is parked or ends", () => {
  const trace = emptyJob();
  applyEvent(trace, event("task.started"));
  applyEvent(trace, event("task.parked", { status: "needs_human_review" }));
  expect(trace.tasks.get("job")?.status).toBe("needs_human_review");
  applyEvent(trace, event("task.completed"));
  expect(trace.tasks.get("job")).toMatchObject({ status: "completed", finished_at: AT });
});

test("applyEvent() shows the steps of a workflow when they end", () => {
  const trace = emptyJob();
  applyEvent(trace, event("step.completed", { step_seq: 1, name: "facts" }));
  applyEvent(trace, event("step.failed", { step_seq: 2, name: "post" }));
  expect(trace.steps.get("job:1")).toMatchObject({ kind: "step", name: "facts", state: "done" });
  expect(trace.steps.get("job:2")).toMatchObject({ kind: "step", name: "post", state: "failed" });
});
