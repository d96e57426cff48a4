import assert from "node:assert/strict";
import type { StepIntent } from "../agent/planned_call.ts";
import type { TaskStore } from "./task_store.ts";
import { Transcript } from "./transcript.ts";

const INTENT: StepIntent = { seq: 1, kind: "tool", name: "read", call_id: "call_1", input: {} };

Deno.test("the checkpoint of a cancelled task stops it", async () => {
  const written: number[] = [];
  const store: Pick<TaskStore, "record"> = {
    record: (_lease, results) => {
      written.push(...results.map(({ seq }) => seq));
      return Promise.resolve({ isCancelled: true });
    },
  };
  const transcript = new Transcript(store as TaskStore, { taskId: "task", epoch: "1" }, []);
  transcript.end({ ...INTENT, state: "done", output: { text: "read" } });

  await assert.rejects(transcript.begin([{ ...INTENT, seq: 2 }]), { code: "TASK_CANCELLED" });

  assert.deepEqual(written, [1], "its results are written");
  assert.deepEqual(transcript.steps.map(({ seq }) => seq), [1], "the next step does not begin");
});
