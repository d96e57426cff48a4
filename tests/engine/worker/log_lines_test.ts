import assert from "node:assert/strict";
import { SwarmError } from "../../../shared/platform/errors/swarm_error.ts";
import { ask, Swarm, turnNumber } from "./swarm_fixture.ts";

Deno.test("a task logs one line at the default level: its end, or its failure", async () => {
  const swarm = await Swarm.open();
  const lines: { readonly event: string; readonly taskId: unknown }[] = [];
  const worker = swarm.startWorker({
    model: (call) => {
      const { input } = call.context.task;
      if (input === "fail") throw new SwarmError("MODEL_REFUSED", "Cannot answer");
      if (input !== "hand on") return { calls: [ask("complete_task", { output: "done" })] };
      return {
        calls: turnNumber(call) === 0
          ? [ask("create_subtask", { agent: "test-reader", input: "read" })]
          : [ask("complete_task", { output: "done" })],
      };
    },
    log: (level, event, fields = {}) => {
      if (level !== "debug") lines.push({ event, taskId: Reflect.get(fields, "task_id") });
    },
  });

  const ended = { complete: "completed", "hand on": "completed", fail: "failed" };
  const expected: { readonly event: string; readonly taskId: unknown }[] = [];
  for (const [input, status] of Object.entries(ended)) {
    const taskId = await swarm.createTask(input);
    await swarm.until(taskId, status);
    const event = status === "failed" ? "task.failing" : "task.run_ended";
    expected.push({ event, taskId });
  }
  await worker.stop();
  await swarm.close();

  const ofTasks = lines.filter(({ taskId }) => taskId !== undefined);
  const taskIds = new Set(expected.map(({ taskId }) => taskId));
  assert.deepEqual(ofTasks.filter(({ taskId }) => taskIds.has(taskId)), expected);
  const ofSubtask = ofTasks.filter(({ taskId }) => !taskIds.has(taskId));
  assert.deepEqual(ofSubtask.map(({ event }) => event), ["task.run_ended"]);
});
