import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type EffectScope, effectScope, ref } from "vue";
import { Job, type JobListener } from "../../../client/mod.ts";
import type { TraceStep, TraceTask } from "../pages/job/trace/trace_model.ts";
import { type FakeProject, json, openFakeProject } from "../testing/fake_project.ts";
import { ownRows } from "./job_rows.ts";
import { useTrace } from "./trace.ts";

/** The page's listener to the job's channel, whose messages a test sends. */
const channel: { follower?: JobListener } = {};

const JOB = "019aac3e-0b7f-7c3e-8a51-2f6e1d0b9c3f";
const READ_TRACE = "/rest/v1/rpc/read_trace";
const SUBTASK = "019aac3e-1111-7c3e-8a51-2f6e1d0b9c3f";
const AT = "2026-11-23T10:00:00Z";

/** The contents of the database, from which the project answers. */
let tasks: TraceTask[];
let steps: TraceStep[];
let project: FakeProject;
let scope: EffectScope;

beforeEach(() => {
  tasks = [task(JOB)];
  steps = [step(1), step(2, { ended_at: null })];
  project = openFakeProject(({ path, query, body }) => {
    if (path === "/rest/v1/tasks") {
      const ids = query.get("id")?.replace(/^in\.\(|\)$/g, "").split(",");
      return json(tasks.filter(({ id }) => ids === undefined || ids.includes(id)));
    }
    if (path === READ_TRACE) {
      const after = body.p_after as { task_id: string; seq: number } | undefined;
      return json(
        steps.filter((one) =>
          after === undefined ||
          `eq.${one.task_id}` === query.get("task_id") && one.seq > after.seq
        ),
      );
    }
    return json(null);
  });
  vi.spyOn(Job.prototype, "listen").mockImplementation((listener) => {
    channel.follower = listener;
    return () => {};
  });
  scope = effectScope();
});

afterEach(() => {
  scope.stop();
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

function task(id: string, change: Partial<TraceTask> = {}): TraceTask {
  return {
    id,
    parent_id: id === JOB ? null : JOB,
    parent_step_seq: id === JOB ? null : 2,
    agent_slug: "writer",
    status: "running",
    created_at: AT,
    started_at: AT,
    finished_at: null,
    ...change,
  };
}

function step(seq: number, change: Partial<TraceStep> = {}): TraceStep {
  return {
    task_id: JOB,
    seq,
    kind: "tool",
    name: "search",
    server: "web",
    state: change.ended_at === null ? "started" : "done",
    error_code: null,
    usage: null,
    cost_micro_usd: null,
    interruptions: 0,
    started_at: AT,
    ended_at: AT,
    summary: null,
    ...change,
  };
}

/** The reads of the whole trace, or of the steps of a task after one. */
function readsOf(what: "trace" | "steps"): unknown[] {
  return project.requests.filter(({ path }) => path === READ_TRACE)
    .map(({ body }) => body.p_after)
    .filter((after) => (after === undefined) === (what === "trace"));
}

function openTrace() {
  const jobId = ref(JOB);
  const live = scope.run(() => useTrace(jobId, ownRows));
  if (live === undefined) throw new Error("The scope has ended");
  const statesOf = () =>
    [...live.trace.value.steps.values()].map((one) => `${one.seq} ${one.state}`);
  const untilStates = (states: readonly string[]) =>
    vi.waitFor(() => expect(statesOf()).toEqual(states));
  return { jobId, live, untilStates };
}

/** Sends an event of a step of the job. */
function sendEvent(event: string, seq: number): void {
  channel.follower?.onMessage({
    event,
    payload: { task_id: JOB, at: AT, data: { step_seq: seq } },
  });
}

/** Holds the next answer of a path, with its rows of now, until the returned function is called. */
function holdNext(path: string): { readonly isHeld: () => boolean; readonly release: () => void } {
  const answers = project.answer;
  const { promise, resolve } = Promise.withResolvers<void>();
  let isHeld = false;
  project.answer = async (request) => {
    const answer = await answers(request);
    if (request.path !== path || isHeld) return answer;
    isHeld = true;
    await promise;
    return answer;
  };
  return { isHeld: () => isHeld, release: resolve };
}

describe("the trace of an open job", () => {
  test("is read once, whether its channel is joined earlier or later", async () => {
    const { untilStates } = openTrace();
    channel.follower?.onJoined?.(true);
    await untilStates(["1 done", "2 started"]);
    await vi.waitFor(() => expect(readsOf("steps")).toHaveLength(1));

    expect(readsOf("trace")).toHaveLength(1);
    expect(readsOf("steps")).toEqual([{ task_id: JOB, seq: 1 }]);
  });

  test("includes changes between the first read and the channel", async () => {
    const { live, untilStates } = openTrace();
    await untilStates(["1 done", "2 started"]);
    steps = [step(1), step(2), step(3, { ended_at: null })];
    tasks = [task(JOB), task(SUBTASK)];

    channel.follower?.onJoined?.(true);

    await untilStates(["1 done", "2 done", "3 started"]);
    await vi.waitFor(() => expect(live.trace.value.tasks.has(SUBTASK)).toBe(true));
    expect(readsOf("trace")).toHaveLength(1);
  });

  test("requests no steps of a finished job again", async () => {
    tasks = [task(JOB, { status: "completed", finished_at: AT })];
    steps = [step(1), step(2)];
    const { untilStates } = openTrace();
    await untilStates(["1 done", "2 done"]);

    channel.follower?.onJoined?.(true);

    await vi.waitFor(() => expect(project.count("/rest/v1/tasks")).toBe(2));
    expect(readsOf("steps")).toEqual([]);
  });

  test("is read completely again after a retry in between", async () => {
    tasks = [task(JOB, { status: "failed", finished_at: AT })];
    steps = [step(1, { state: "failed" }), step(2)];
    const { untilStates } = openTrace();
    await untilStates(["1 failed", "2 done"]);
    tasks = [task(JOB)];
    steps = [step(1), step(2)];

    channel.follower?.onJoined?.(true);

    await untilStates(["1 done", "2 done"]);
    expect(readsOf("trace")).toHaveLength(2);
  });

  test("is read completely after the channel was lost", async () => {
    const { untilStates } = openTrace();
    channel.follower?.onJoined?.(true);
    await untilStates(["1 done", "2 started"]);
    channel.follower?.onJoined?.(false);
    steps = [step(1), step(2), step(3)];

    channel.follower?.onJoined?.(true);

    await untilStates(["1 done", "2 done", "3 done"]);
    expect(readsOf("trace")).toHaveLength(2);
  });

  test("keeps an event's change while older rows are in transit", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "requestAnimationFrame"] });
    const answers = project.answer;
    let release = () => {};
    const older = steps;
    project.answer = async (request) => {
      if (request.path !== READ_TRACE || request.body.p_after) return await answers(request);
      await new Promise<void>((resolve) => (release = resolve));
      return json(older);
    };
    const { untilStates } = openTrace();
    channel.follower?.onJoined?.(true);
    await vi.waitFor(() => expect(readsOf("trace")).toHaveLength(1));
    steps = [step(1), step(2)];
    sendEvent("tool.completed", 2);
    // Longer than the time in which changed rows are batched.
    await vi.advanceTimersByTimeAsync(700);

    release();

    await untilStates(["1 done", "2 done"]);
  });

  test("keeps the newest rows when an earlier read is slower", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "requestAnimationFrame"] });
    const { untilStates } = openTrace();
    await untilStates(["1 done", "2 started"]);
    const { isHeld, release } = holdNext(READ_TRACE);
    sendEvent("tool.started", 2);
    await vi.advanceTimersByTimeAsync(700);
    await vi.waitFor(() => expect(isHeld()).toBe(true));
    steps = [step(1), step(2), step(3)];
    sendEvent("tool.completed", 2);
    await vi.advanceTimersByTimeAsync(700);

    release();
    await vi.advanceTimersByTimeAsync(700);

    await untilStates(["1 done", "2 done", "3 done"]);
  });

  test("has no rows of the job that was shown before", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "requestAnimationFrame"] });
    const { jobId, live, untilStates } = openTrace();
    await untilStates(["1 done", "2 started"]);
    const { isHeld, release } = holdNext("/rest/v1/tasks");
    sendEvent("tool.completed", 2);
    await vi.advanceTimersByTimeAsync(700);
    await vi.waitFor(() => expect(isHeld()).toBe(true));
    tasks = [task(SUBTASK, { parent_id: null })];
    steps = [];
    jobId.value = SUBTASK;
    await vi.waitFor(() => expect([...live.trace.value.tasks.keys()]).toEqual([SUBTASK]));

    release();
    await vi.advanceTimersByTimeAsync(700);

    expect([...live.trace.value.tasks.keys()]).toEqual([SUBTASK]);
  });
});
