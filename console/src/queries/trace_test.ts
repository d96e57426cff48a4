import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type EffectScope, effectScope, ref } from "vue";
import type { ChannelFollower } from "../project/follow_channel.ts";
import type { TraceStep, TraceTask } from "../pages/job/trace/trace_model.ts";
import { type FakeProject, json, openFakeProject } from "../testing/fake_project.ts";
import { ownRows } from "./job_rows.ts";
import { useTrace } from "./trace.ts";

const channel = vi.hoisted(() => ({ follower: undefined as ChannelFollower | undefined }));
vi.mock("../project/follow_channel.ts", () => ({
  followChannel: (_topic: string, follower: ChannelFollower) => {
    channel.follower = follower;
    return () => {};
  },
}));

const JOB = "019aac3e-0b7f-7c3e-8a51-2f6e1d0b9c3f";
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
  project = openFakeProject(({ path, query }) => {
    if (path === "/rest/v1/tasks") {
      const ids = query.get("id")?.replace(/^in\.\(|\)$/g, "").split(",");
      return json(tasks.filter(({ id }) => ids === undefined || ids.includes(id)));
    }
    if (path === "/rest/v1/rpc/read_trace") return json(steps);
    if (path === "/rest/v1/task_steps") {
      const from = Number(query.get("seq")?.slice("gte.".length));
      return json(
        steps.filter((one) => `eq.${one.task_id}` === query.get("task_id") && one.seq >= from),
      );
    }
    return json(null);
  });
  scope = effectScope();
});

afterEach(() => {
  scope.stop();
  vi.useRealTimers();
  vi.unstubAllGlobals();
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
    ...change,
  };
}

function openTrace() {
  const live = scope.run(() => useTrace(ref(JOB), ownRows));
  if (live === undefined) throw new Error("The scope has ended");
  const statesOf = () =>
    [...live.trace.value.steps.values()].map((one) => `${one.seq} ${one.state}`);
  const untilStates = (states: readonly string[]) =>
    vi.waitFor(() => expect(statesOf()).toEqual(states));
  return { live, untilStates };
}

describe("the trace of an open job", () => {
  test("is read once, whether its channel is joined earlier or later", async () => {
    const { untilStates } = openTrace();
    channel.follower?.onJoined(true);
    await untilStates(["1 done", "2 started"]);
    await vi.waitFor(() => expect(project.count("/rest/v1/task_steps")).toBe(1));

    expect(project.count("/rest/v1/rpc/read_trace")).toBe(1);
    expect(project.requests.at(-1)?.query.get("seq")).toBe("gte.2");
  });

  test("includes changes between the first read and the channel", async () => {
    const { live, untilStates } = openTrace();
    await untilStates(["1 done", "2 started"]);
    steps = [step(1), step(2), step(3, { ended_at: null })];
    tasks = [task(JOB), task(SUBTASK)];

    channel.follower?.onJoined(true);

    await untilStates(["1 done", "2 done", "3 started"]);
    await vi.waitFor(() => expect(live.trace.value.tasks.has(SUBTASK)).toBe(true));
    expect(project.count("/rest/v1/rpc/read_trace")).toBe(1);
  });

  test("requests no steps of a finished job again", async () => {
    tasks = [task(JOB, { status: "completed", finished_at: AT })];
    steps = [step(1), step(2)];
    const { untilStates } = openTrace();
    await untilStates(["1 done", "2 done"]);

    channel.follower?.onJoined(true);

    await vi.waitFor(() => expect(project.count("/rest/v1/tasks")).toBe(2));
    expect(project.count("/rest/v1/task_steps")).toBe(0);
  });

  test("is read completely again after a retry in between", async () => {
    tasks = [task(JOB, { status: "failed", finished_at: AT })];
    steps = [step(1, { state: "failed" }), step(2)];
    const { untilStates } = openTrace();
    await untilStates(["1 failed", "2 done"]);
    tasks = [task(JOB)];
    steps = [step(1), step(2)];

    channel.follower?.onJoined(true);

    await untilStates(["1 done", "2 done"]);
    expect(project.count("/rest/v1/rpc/read_trace")).toBe(2);
  });

  test("is read completely after the channel was lost", async () => {
    const { untilStates } = openTrace();
    channel.follower?.onJoined(true);
    await untilStates(["1 done", "2 started"]);
    channel.follower?.onJoined(false);
    steps = [step(1), step(2), step(3)];

    channel.follower?.onJoined(true);

    await untilStates(["1 done", "2 done", "3 done"]);
    expect(project.count("/rest/v1/rpc/read_trace")).toBe(2);
  });

  test("keeps an event's change while older rows are in transit", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "requestAnimationFrame"] });
    const answers = project.answer;
    let release = () => {};
    const older = steps;
    project.answer = async (request) => {
      if (request.path !== "/rest/v1/rpc/read_trace") return await answers(request);
      await new Promise<void>((resolve) => (release = resolve));
      return json(older);
    };
    const { untilStates } = openTrace();
    channel.follower?.onJoined(true);
    await vi.waitFor(() => expect(project.count("/rest/v1/rpc/read_trace")).toBe(1));
    steps = [step(1), step(2)];
    channel.follower?.onMessage({
      event: "tool.completed",
      payload: { task_id: JOB, seq: 9, at: AT, data: { step_seq: 2 } },
    });
    // Longer than the time in which changed rows are batched.
    await vi.advanceTimersByTimeAsync(700);

    release();

    await untilStates(["1 done", "2 done"]);
  });
});
