import assert from "node:assert/strict";
import { StopReason } from "../work/stop_reason.ts";
import { type FailedRun, settleFailure } from "./settle_failure.ts";
import type { TaskStore } from "./task_store.ts";
import { Transcript } from "./transcript.ts";

Deno.test("a task that is returned during a model call sends what the call has cost so far", async () => {
  const returned: unknown[] = [];
  const store: Pick<TaskStore, "yield"> = {
    yield: (_lease, parts) => {
      returned.push(parts?.cutCall);
      return Promise.resolve();
    },
  };
  const estimate = { seq: 3, input_tokens: 100, output_tokens: 7 };
  const lease = { taskId: "task", epoch: "1" };
  const run = {
    lease,
    transcript: new Transcript(store as TaskStore, lease, []),
    underWay: { modelCall: { estimate: () => estimate } },
    ports: { store },
    control: { signal: AbortSignal.abort(new StopReason("yield", { isFinal: false })) },
  } as unknown as FailedRun;

  assert.equal(await settleFailure(new Error("stopped"), run), "yielded");

  assert.deepEqual(returned, [{ ...estimate, is_final: false }]);
});
