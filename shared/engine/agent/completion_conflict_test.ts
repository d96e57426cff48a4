import assert from "node:assert/strict";
import type { ModelToolCall } from "../../models/llm/model_port.ts";
import { call, modelDone, stateOf, systemStep } from "./agent_states.ts";
import { decide } from "./decide.ts";
import type { Step } from "./task_context.ts";

/** Lets a model answer until the task ends or it has nothing more to say; returns what was asked for. */
function play(answers: readonly (readonly ModelToolCall[])[]) {
  let steps: Step[] = [];
  const [waitedFor, answered]: [string[], string[]] = [[], []];
  const spawned: number[] = [];
  while (true) {
    const decision = decide(stateOf({ steps, spawned }));
    switch (decision.kind) {
      case "call_model": {
        const calls = answers[answered.length];
        if (calls === undefined) return { end: "open", waitedFor, turns: answered.length };
        answered.push("turn");
        steps = [...steps, modelDone(decision.seq, calls)];
        break;
      }
      case "run_calls":
        for (const planned of decision.calls) {
          assert.ok(planned.kind === "settled");
          const { seq, name } = planned.intent;
          steps = sorted([...steps, systemStep(seq, name, planned.result)]);
        }
        break;
      case "spawn":
        for (const { intent, input } of decision.calls) {
          waitedFor.push(String(input));
          spawned.push(intent.seq);
          const output = { agent: "reader", status: "completed", output: "ok" };
          steps = sorted([...steps, systemStep(intent.seq, intent.name, { output })]);
        }
        break;
      case "review":
        waitedFor.push(decision.call.question);
        steps = sorted([
          ...steps,
          systemStep(decision.call.seq, "request_human_review", { output: { approved: true } }),
        ]);
        break;
      case "finish":
        return { end: decision.output, waitedFor, turns: answered.length };
      case "fail":
        return { end: decision.error.code, waitedFor, turns: answered.length };
      default:
        assert.fail(decision.kind);
    }
  }
}

const sorted = (steps: readonly Step[]) => steps.toSorted((a, b) => a.seq - b.seq);
const complete = (output: string) => call("complete_task", { output });
const subtask = (input: string) => call("create_subtask", { agent: "reader", input });
const question = call("request_human_review", { question: "May I?" });

Deno.test("a subtask beside complete_task runs, and one more turn completes the task", () => {
  const { end, waitedFor, turns } = play([[subtask("a"), complete("x")], [complete("x")]]);

  assert.deepEqual({ end, waitedFor, turns }, { end: "x", waitedFor: ["a"], turns: 2 });
});

Deno.test("a model that repeats the conflict gets one subtask or answer, and the task fails", () => {
  for (const other of [subtask("a"), question]) {
    const { end, waitedFor, turns } = play(Array(20).fill([other, complete("x")]));

    assert.deepEqual([end, waitedFor.length, turns], ["CALL_REPEATED", 1, 5]);
  }
});

Deno.test("it does so also if the arguments differ each time", () => {
  const answers = Array.from({ length: 20 }, (_, index) => [
    complete(`result ${index}`),
    subtask(`part ${index}`),
  ]);

  const { end, waitedFor, turns } = play(answers);

  assert.deepEqual([end, waitedFor, turns], ["CALL_REPEATED", ["part 0"], 5]);
});

Deno.test("after the conflict each of both calls is accepted alone", () => {
  const conflict = [subtask("a"), complete("x")];
  const { end, waitedFor } = play([conflict, conflict, conflict, [subtask("b")], [complete("x")]]);

  assert.deepEqual([end, waitedFor], ["x", ["a", "b"]]);
});

Deno.test("complete_task alone is accepted after it was refused four times", () => {
  const conflict = [subtask("a"), complete("x")];

  assert.equal(play([conflict, conflict, conflict, conflict, [complete("x")]]).end, "x");
});
