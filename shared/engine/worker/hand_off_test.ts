import assert from "node:assert/strict";
import type { CallIntent } from "../agent/planned_call.ts";
import { parkForSubtasks } from "./hand_off.ts";
import type { TaskRun } from "./task_run.ts";
import type { TaskStore } from "./task_store.ts";
import { Transcript } from "./transcript.ts";

const INTENT: CallIntent = {
  seq: 1,
  kind: "system",
  name: "create_subtask",
  call_id: "call_1",
  input: {},
};

Deno.test("a task whose subtasks end before it parks reads their results and continues", async () => {
  const store: Pick<TaskStore, "begin" | "park"> = {
    begin: () => Promise.resolve([{ seq: 1, state: "done", output: { status: "completed" } }]),
    park: () => Promise.resolve("continue"),
  };
  const lease = { taskId: "task", epoch: "1" };
  const transcript = new Transcript(store as TaskStore, lease, []);
  const run = { lease, transcript, ports: { store } } as unknown as TaskRun;

  assert.equal(await parkForSubtasks([INTENT], run), null);

  assert.deepEqual(transcript.steps.map(({ state }) => state), ["done"]);
});
