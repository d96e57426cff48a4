import assert from "node:assert/strict";
import type { ModelToolCall } from "../../models/llm/model_port.ts";
import type { JsonObject } from "../../platform/values/json.ts";
import { call, callStep, modelDone, stateOf, systemStep, toolNamed } from "./agent_states.ts";
import { decide, type Decision } from "./decide.ts";
import type { CallStep, Step } from "./task_context.ts";

/** A call and how its step ends: with this error, or with a success. */
interface Made {
  readonly call: ModelToolCall;
  readonly error?: string;
}

const made = (name: string, args: JsonObject, error?: string): Made => ({
  call: call(name, args),
  ...(error === undefined ? {} : { error }),
});
const refused = (args: JsonObject = { path: "a" }, error = "No such file") =>
  made("read", args, error);

function stepOf(seq: number, { call: { name }, error }: Made): CallStep {
  const make = name === "read" || name === "poll" ? callStep : systemStep;
  return make(seq, name, {
    state: error === undefined ? "done" : "failed",
    output: error === undefined
      ? { text: "fine", execution_id: "e1" }
      : { text: error, is_error: true, error_code: "TOOL_FAILED", execution_id: "e1" },
  });
}

function transcript(turns: readonly (readonly Made[])[]): Step[] {
  const steps: Step[] = [];
  for (const turn of turns) {
    const seq = steps.length + 1;
    const calls = turn.map((entry) => entry.call);
    steps.push(
      modelDone(seq, calls),
      ...turn.map((entry, index) => stepOf(seq + 1 + index, entry)),
    );
  }
  return steps;
}

const times = (count: number, turn: readonly Made[]) => Array.from({ length: count }, () => turn);
const tools = [toolNamed("read"), toolNamed("poll")];
const next = (steps: readonly Step[]): Decision => decide(stateOf({ steps, tools }));
const after = (turns: readonly (readonly Made[])[]) => next(transcript(turns));

function assertFails(decision: Decision, message: RegExp): void {
  assert.ok(decision.kind === "fail", decision.kind);
  assert.equal(decision.error.code, "CALL_REPEATED");
  assert.match(decision.error.message, message);
}

Deno.test("the same call with the same error five times in a row fails the task", () => {
  assert.equal(after(times(4, [refused()])).kind, "call_model");
  assertFails(after(times(5, [refused()])), /called read 5 times .*: No such file$/);
});

Deno.test("the model reads after the third time that the call is refused for good", () => {
  const textsAfter = (count: number) => {
    const decision = after(times(count, [refused()]));
    assert.ok(decision.kind === "call_model");
    return decision.prompt.messages.flatMap((entry) => entry.role === "tool" ? [entry.text] : []);
  };

  assert.ok(textsAfter(2).every((text) => !text.includes("refused for good")));
  const [first, second, third] = textsAfter(3);
  assert.doesNotMatch(`${first}${second}`, /refused for good/);
  assert.match(third ?? "", /No such file\n<\/untrusted_data>\n\n.*number 3 .*refused for good/);
});

Deno.test("a fourth call is not made, and counts", () => {
  const steps = transcript(times(3, [refused()]));
  for (const seq of [7, 9]) {
    steps.push(modelDone(seq, [call("read", { path: "a" })]));
    const decision = next(steps);
    assert.ok(decision.kind === "run_calls");
    const [planned] = decision.calls;
    assert.ok(planned?.kind === "settled");
    assert.equal(planned.result.output.error_code, "CALL_REPEATED");
    steps.push(callStep(seq + 1, "read", planned.result));
  }

  assertFails(next(steps), /No such file/);
});

Deno.test("equal arguments are equal in any order of their members", () => {
  const [one, other] = [refused({ a: 1, b: [2] }), refused({ b: [2], a: 1 })];

  assertFails(after([[one], [other], [one], [other], [one]]), /read/);
});

Deno.test("other arguments, another error or a success in between start the count anew", () => {
  const interruptions: Made[] = [
    refused({ path: "b" }),
    refused({ path: "a" }, "The disk is full"),
    made("read", { path: "a" }),
    made("poll", {}),
  ];
  for (const interruption of interruptions) {
    const turns = [...times(4, [refused()]), [interruption], ...times(4, [refused()])];

    assert.equal(after(turns).kind, "call_model", JSON.stringify(interruption));
  }
});

Deno.test("a plain answer in between starts the count anew", () => {
  const steps = transcript(times(4, [refused()]));
  steps.push(
    modelDone(9, [], ""),
    ...transcript([[refused()]]).map((step) => ({
      ...step,
      seq: step.seq + 9,
    })),
  );

  assert.equal(next(steps).kind, "call_model");
});

Deno.test("equal calls of one turn count once, and not if one of them succeeds", () => {
  const mixed = [refused(), made("read", { path: "a" })];
  assert.equal(after(times(5, mixed)).kind, "call_model");
  assert.equal(after([[refused(), refused(), refused(), refused(), refused()]]).kind, "call_model");
  assertFails(after(times(5, [refused(), refused()])), /5 times/);
});

Deno.test("other calls of the turn do not hide a repeated one", () => {
  const others = [refused({ path: "b" }, "No such folder"), made("poll", {})];

  assertFails(after(times(5, [others[0] ?? refused(), refused(), made("poll", {})])), /5 times/);
});

Deno.test("a turn that also does something new and succeeds starts the count anew", () => {
  const turns = [1, 2, 3, 4, 5, 6].map((page) => [made("poll", { page }), refused()]);

  assert.equal(after(turns).kind, "call_model");
});

Deno.test("a successful call may be repeated for as long as it takes", () => {
  assert.equal(after(times(50, [made("poll", {})])).kind, "call_model");
});

Deno.test("a message of the user and a retry start the count anew", () => {
  const message: Step = { kind: "user", seq: 9, state: "done", input: "Try again" };
  const retried = transcript(times(4, [refused()])).map((step) =>
    step.kind === "model" && step.seq === 7 ? { ...step, input: { retried: true } as const } : step
  );
  const later = (seq: number): Step[] => [
    modelDone(seq, [call("read", { path: "a" })]),
    stepOf(seq + 1, refused()),
  ];

  assert.equal(
    next([...transcript(times(4, [refused()])), message, ...later(10)]).kind,
    "call_model",
  );
  assert.equal(next([...retried, ...later(9)]).kind, "call_model");
  const again = next([...retried, modelDone(9, [call("read", { path: "a" })])]);
  assert.ok(again.kind === "run_calls" && again.calls[0]?.kind === "tool", "the call is made");
});
