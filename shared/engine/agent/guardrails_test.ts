import assert from "node:assert/strict";
import type { JsonValue } from "../../platform/values/json.ts";
import {
  call,
  callStep,
  modelDone,
  modelStarted,
  stateOf,
  type StateParts,
  summaryDone,
} from "./agent_states.ts";
import { userFilePaths } from "./build_messages.ts";
import { decide, type Decision } from "./decide.ts";
import type { GuardrailStep, Step } from "./task_context.ts";
import { definedOnly } from "../../platform/values/defined_only.ts";

const INPUT = { stage: "input", server: "safety", tool_name: "check_input" } as const;
const OUTPUT = { stage: "output", server: "safety", tool_name: "check_output" } as const;

function verdict(
  seq: number,
  stage: "input" | "output",
  parts: Partial<{
    allowed: boolean;
    replacement: JsonValue;
    index: number;
    message: number;
    name: string;
  }> = {},
): GuardrailStep {
  const { allowed = true, replacement, index = 0, message = 0 } = parts;
  return {
    kind: "guardrail",
    seq,
    state: allowed ? "done" : "failed",
    name: parts.name ?? `check_${stage}`,
    call_id: `guardrail_${seq}`,
    input: { stage, server: "safety", index, message_seq: message },
    output: {
      text: allowed ? "allowed" : "It names a person",
      allowed,
      ...definedOnly({ replacement }),
    },
  };
}

function decideKind<K extends Decision["kind"]>(parts: StateParts, kind: K) {
  const decision = decide(stateOf(parts));
  assert.equal(decision.kind, kind, JSON.stringify(decision).slice(0, 400));
  return decision as Extract<Decision, { kind: K }>;
}

Deno.test("the input is checked in parallel with the first call, under the numbers after it", () => {
  const guardrails = [INPUT, { ...INPUT, tool_name: "check_length" }, OUTPUT];

  const { seq, checks } = decideKind({ guardrails, steps: [modelStarted(1)] }, "call_model");

  assert.equal(seq, 1);
  assert.deepEqual(checks.map(({ intent, toolName }) => [intent.seq, toolName]), [
    [2, "check_input"],
    [3, "check_length"],
  ]);
  assert.deepEqual(checks[0]?.arguments, { stage: "input", content: "Write a poem" });
});

Deno.test("a started check is repeated under its number, a finished one is not", () => {
  const guardrails = [INPUT, { ...INPUT, tool_name: "check_length" }];
  const begun: Step = {
    ...verdict(3, "input", { index: 1, name: "check_length" }),
    state: "started",
    output: null,
  };

  const { checks } = decideKind(
    { guardrails, steps: [modelStarted(1), verdict(2, "input"), begun] },
    "call_model",
  );

  assert.deepEqual(checks.map(({ intent }) => intent.seq), [3]);
});

Deno.test("a check of the result gets the number after a summary that was made before it", () => {
  // The answer needed a further call, until the agent's settings were changed.
  const steps = [modelDone(1, [], "A poem"), summaryDone(2, 1, "The user wants a poem.")];

  const { checks } = decideKind({ guardrails: [OUTPUT], steps }, "check");

  assert.deepEqual(checks.map(({ intent }) => intent.seq), [3]);
});

Deno.test("a refusal of the input ends the task with its reason", () => {
  const steps = [modelStarted(1), verdict(2, "input", { allowed: false })];

  const { error } = decideKind({ guardrails: [INPUT], steps }, "fail");

  assert.equal(error.code, "GUARDRAIL_REFUSED");
  assert.match(error.message, /check_input.*It names a person/);
});

Deno.test("the model reads a replacement instead of the input", () => {
  const steps = [modelStarted(1), verdict(2, "input", { replacement: "Write [redacted]" })];

  const { seq, checks, prompt } = decideKind({ guardrails: [INPUT], steps }, "call_model");

  assert.deepEqual([seq, checks], [1, []]);
  assert.deepEqual(prompt.messages, [{ role: "user", text: "Write [redacted]" }]);
});

Deno.test("the calls of the first turn get the numbers after the checks", () => {
  const steps = [modelDone(1, [call("read"), call("write")]), verdict(2, "input")];
  const read = callStep(3, "read");

  const { calls } = decideKind({ guardrails: [INPUT], steps }, "run_calls");
  const { seq } = decideKind(
    { guardrails: [INPUT], steps: [...steps, read, callStep(4, "write")] },
    "call_model",
  );

  assert.deepEqual(calls.map(({ intent }) => intent.seq), [3, 4]);
  assert.equal(seq, 5);
});

Deno.test("each message that continues a task is checked", () => {
  const steps: Step[] = [
    modelDone(1, [], "Roses"),
    verdict(2, "input"),
    { kind: "user", seq: 3, state: "done", input: "And violets?" },
  ];

  const { checks } = decideKind({ guardrails: [INPUT], steps }, "call_model");

  assert.deepEqual(checks.map(({ intent }) => intent.seq), [5]);
  assert.equal(checks[0]?.arguments.content, "And violets?");
});

Deno.test("the result is checked before the task ends with it, whether plain or completed", () => {
  const plain = [modelDone(1, [], "Roses")];
  const completed = [modelDone(1, [call("complete_task", { output: { n: 1 } })])];

  for (const [steps, seq, content] of [[plain, 2, "Roses"], [completed, 3, { n: 1 }]] as const) {
    const parts = { guardrails: [OUTPUT], steps };
    const { checks } = decideKind(parts, "check");
    assert.deepEqual(checks.map(({ intent }) => intent.seq), [seq]);
    assert.deepEqual(checks[0]?.arguments, { stage: "output", content });

    const allowed = { ...parts, steps: [...steps, verdict(seq, "output")] };
    assert.deepEqual(decideKind(allowed, "finish").output, content);
    const replaced = {
      ...parts,
      steps: [...steps, verdict(seq, "output", { replacement: "***" })],
    };
    assert.equal(decideKind(replaced, "finish").output, "***");
    const refused = { ...parts, steps: [...steps, verdict(seq, "output", { allowed: false })] };
    assert.equal(decideKind(refused, "fail").error.code, "GUARDRAIL_REFUSED");
  }
});

Deno.test("a replacement of the result must match the output schema", () => {
  const outputSchema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
  const steps = [
    modelDone(1, [call("complete_task", { output: { n: 1 } })]),
    verdict(3, "output", { replacement: "***" }),
  ];

  const { error } = decideKind({ guardrails: [OUTPUT], outputSchema, steps }, "fail");

  assert.equal(error.code, "OUTPUT_SCHEMA_MISMATCH");
});

Deno.test("a verdict of a removed guardrail does not count for another one", () => {
  const refused = verdict(2, "input", { name: "check_old", allowed: false });
  const steps = [modelStarted(1), refused];

  const { checks } = decideKind({ guardrails: [INPUT], steps }, "call_model");

  assert.deepEqual(checks.map(({ intent, toolName }) => [intent.seq, toolName]), [
    [3, "check_input"],
  ]);
  const judged = [modelDone(1, [call("read")]), refused, verdict(3, "input")];
  const { calls } = decideKind({ guardrails: [INPUT], steps: judged }, "run_calls");
  assert.deepEqual(calls.map(({ intent }) => intent.seq), [4]);
});

for (
  const [what, check] of [
    ["was refused", verdict(2, "input", { allowed: false })],
    ["was never judged to the end", { ...verdict(2, "input"), state: "failed", output: null }],
  ] as const
) {
  Deno.test(`a message that ${what} is not shown to the model in a later turn`, () => {
    const steps: Step[] = [
      check,
      { kind: "user", seq: 3, state: "done", input: "Go on" },
      modelStarted(4),
      verdict(5, "input", { message: 3 }),
    ];

    const { prompt } = decideKind(
      { guardrails: [INPUT], steps, input: "The bad one" },
      "call_model",
    );

    assert.ok(!JSON.stringify(prompt).includes("The bad one"));
    assert.match(prompt.messages[0]?.text ?? "", /guardrail did not allow this message/);
    assert.equal(prompt.messages.at(-1)?.text, "Go on");
  });
}

Deno.test("a replaced message stays replaced in later turns, in summaries, and for the files that it names", () => {
  const input = { text: "The bad one", files: ["u/secret.pdf"] };
  const steps: Step[] = [
    modelDone(1, [call("read")]),
    verdict(2, "input", { replacement: "The good one" }),
    callStep(3, "read", { output: { text: "x".repeat(4_000), execution_id: "e" } }),
    modelDone(4, [], "Done"),
    { kind: "user", seq: 5, state: "done", input: "Go on" },
    modelStarted(6),
    verdict(7, "input", { message: 5 }),
  ];

  const parts = { guardrails: [INPUT], steps, input };
  const { prompt } = decideKind(parts, "call_model");
  const { prompt: summary } = decideKind({ ...parts, windowTokens: 2_000 }, "summarize");

  for (const shown of [prompt, summary]) {
    assert.ok(!JSON.stringify(shown).includes("bad one"));
    assert.ok(JSON.stringify(shown).includes("The good one"));
  }
  assert.deepEqual(userFilePaths(input, steps), []);
});
