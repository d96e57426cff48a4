import assert from "node:assert/strict";
import type { StepIntent } from "../agent/planned_call.ts";
import { nextTurn } from "../../platform/isolate/next_turn.ts";
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

Deno.test("a checkpoint is written beside the writes of others, and waits for them", async () => {
  const other = Promise.withResolvers<void>();
  const isRecorded = Promise.withResolvers<void>();
  const store: Pick<TaskStore, "record"> = {
    record: () => {
      isRecorded.resolve();
      return Promise.resolve({ isCancelled: false });
    },
  };
  const transcript = new Transcript(store as TaskStore, { taskId: "task", epoch: "1" }, []);
  transcript.waitFor(other.promise);
  transcript.end({ ...INTENT, state: "done", output: { text: "read" } });

  const checkpoint = transcript.begin([{ ...INTENT, seq: 2 }]);
  await isRecorded.promise;
  const isWaiting = await Promise.race([checkpoint.then(() => false), nextTurn().then(() => true)]);
  other.resolve();
  await checkpoint;

  assert.ok(isWaiting, "the next step does not begin before the other write has ended");
});
