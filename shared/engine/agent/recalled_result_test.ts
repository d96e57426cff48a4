import assert from "node:assert/strict";
import { call, callStep, modelDone, stateOf } from "./agent_states.ts";
import { decide } from "./decide.ts";
import { recalledResult } from "./recalled_result.ts";

Deno.test("recall_result reads a result again in parts, with its files in the first", () => {
  const files = [{ path: "a/b.png", media_type: "image/png", bytes: 10 }];
  const stored = { name: "read", output: { text: `${"a".repeat(12_000)}needle`, files } };

  const first = recalledResult(stored, 2, 0).output;
  const second = recalledResult(stored, 2, 12_000).output;

  assert.match(String(first.text), /6 more characters from offset 12000/);
  assert.deepEqual(first.files, files);
  assert.deepEqual(second, { step: 2, text: "needle", is_error: false });
});

Deno.test("recall_result does not read the contents of a skill", () => {
  const stored = { name: "load_skill", output: { text: "secret" } };

  const { state, output } = recalledResult(stored, 3, 0);

  assert.equal(state, "failed");
  assert.doesNotMatch(String(output.text), /secret/);
});

Deno.test("recall_result reads only results of earlier turns", () => {
  const plannedFor = (step: number) => {
    const calls = [call("read"), call("recall_result", { step })];
    const steps = [modelDone(1, [call("read")]), callStep(2, "read"), modelDone(3, calls)];
    const decision = decide(stateOf({ steps: [...steps, callStep(4, "read")] }));
    return decision.kind === "run_calls" ? decision.calls[0] : undefined;
  };

  const recall = plannedFor(2);
  assert.deepEqual(recall?.kind === "recall" && [recall.step, recall.offset], [2, 0]);
  for (const step of [3, 4, 5, 99]) assert.equal(plannedFor(step)?.kind, "settled", `${step}`);
});
