import assert from "node:assert/strict";
import { call, callStep, modelDone, stateOf, summaryDone } from "./agent_states.ts";
import { decide, type Decision } from "./decide.ts";
import { estimatePromptTokens } from "./estimate_tokens.ts";
import { playReadingJob } from "./reading_job.ts";
import { recalledResult } from "./recalled_result.ts";
import type { Step } from "./task_context.ts";

type Kind = Decision["kind"];

function decideKind<K extends Kind>(
  steps: readonly Step[],
  windowTokens: number,
  kind: K,
  input = "Count",
): Extract<Decision, { kind: K }> {
  const decision = decide(stateOf({ steps, windowTokens, input }));
  assert.equal(decision.kind, kind, JSON.stringify(decision).slice(0, 500));
  return decision as Extract<Decision, { kind: K }>;
}

/** A turn with one call whose result is `chars` long. */
function turn(seq: number, chars: number, words = ""): Step[] {
  const text = words + "x".repeat(chars);
  return [
    modelDone(seq, [call("read", { page: seq })], `Page ${seq}`),
    callStep(seq + 1, "read", { output: { text, execution_id: "e1" } }),
  ];
}
const turns = (count: number, chars: number) =>
  Array.from({ length: count }, (_, index) => turn(2 * index + 1, chars)).flat();
const message = (seq: number, input: string): Step => ({ kind: "user", seq, state: "done", input });
const textOf = (decision: Extract<Decision, { kind: "call_model" | "summarize" }>) =>
  JSON.stringify(decision.prompt.messages);

Deno.test("a prompt that fits contains the complete transcript", () => {
  const { leftOut, prompt } = decideKind(turns(5, 5_000), 128_000, "call_model");

  assert.deepEqual(leftOut, { results_through: 0, summary_seq: null });
  assert.ok(!JSON.stringify(prompt).includes("left out"));
  assert.equal(prompt.tools.length, 5);
});

Deno.test("old results are shortened first without a model call, and the newest one is kept", () => {
  const { leftOut, prompt } = decideKind(turns(10, 8_000), 24_000, "call_model");

  assert.ok(leftOut.results_through > 0 && leftOut.results_through < 20);
  assert.equal(leftOut.summary_seq, null);
  const results = prompt.messages.flatMap((entry) => entry.role === "tool" ? [entry.text] : []);
  assert.match(results[0] ?? "", /characters omitted; recall_result \{"step": 2, /);
  assert.ok(results.at(-1)?.includes("x".repeat(8_000)));
  assert.ok(results.every((text) => text.startsWith("<untrusted_data")), "still fenced");
  assert.ok(prompt.tools.some(({ name }) => name === "recall_result"));
});

Deno.test("omitted results stay omitted, so that prompts keep their prefix", () => {
  const steps = turns(10, 8_000);
  const first = decideKind(steps, 24_000, "call_model");
  const answered = {
    ...modelDone(21, [call("read", { page: 21 })]),
    input: { left_out: first.leftOut },
  };
  const next = decideKind([...steps, answered, callStep(22, "read")], 24_000, "call_model");

  assert.deepEqual(next.leftOut, first.leftOut);
  const begin = next.prompt.messages.slice(0, first.prompt.messages.length);
  assert.deepEqual(begin, first.prompt.messages);
});

Deno.test("then old turns are summarized from complete results in a separate step", () => {
  const steps = [...turn(1, 1_400, "needle 4711 "), ...turns(60, 1_400).slice(2)];

  const { seq, through, prompt } = decideKind(steps, 24_000, "summarize");

  assert.equal(seq, 121);
  assert.ok(through > 0 && through < 120 && through % 2 === 0, "whole turns");
  assert.ok(textOf({ kind: "summarize", seq, through, prompt }).includes("needle 4711"));
  assert.deepEqual(prompt.tools, []);
  assert.ok(estimatePromptTokens(prompt) < 24_000);
});

Deno.test("a summary replaces its turns; messages of the user are kept", () => {
  const steps = [
    ...turns(59, 1_400),
    message(119, "Remember the number 42"),
    modelDone(120, [], "I will"),
    message(121, "What was it?"),
    summaryDone(122, 118, "The needle is 4711"),
  ];

  const { seq, leftOut, prompt } = decideKind(steps, 24_000, "call_model");

  assert.equal(seq, 123);
  assert.equal(leftOut.summary_seq, 122);
  const roles = prompt.messages.map(({ role }) => role);
  assert.deepEqual(roles, ["user", "user", "user", "assistant", "user"]);
  const text = JSON.stringify(prompt.messages);
  for (const kept of ["Count", "The needle is 4711", "Remember the number 42", "What was it?"]) {
    assert.ok(text.includes(kept), kept);
  }
  assert.ok(!text.includes("Page 3"));
});

Deno.test("a long transcript is summarized in parts, each with the previous summary", () => {
  let steps: Step[] = turns(300, 1_400);
  const covered: number[] = [];
  let decision = decide(stateOf({ steps, windowTokens: 16_000, input: "Count" }));
  while (decision.kind === "summarize") {
    if (covered.length > 0) assert.ok(textOf(decision).includes(`Summary ${covered.length}`));
    covered.push(decision.through);
    steps = [...steps, summaryDone(decision.seq, decision.through, `Summary ${covered.length}`)];
    decision = decide(stateOf({ steps, windowTokens: 16_000, input: "Count" }));
  }

  assert.equal(decision.kind, "call_model");
  assert.ok(covered.length > 3);
  assert.deepEqual(covered, [...new Set(covered)].sort((a, b) => a - b));
});

Deno.test("results of the current turn are shortened last, and no more than needed", () => {
  const { leftOut, prompt } = decideKind(turn(1, 60_000), 16_000, "call_model");

  assert.equal(leftOut.results_through, 2);
  const text = prompt.messages.at(-1)?.text ?? "";
  assert.ok(text.length > 16_000 && text.length < 17_000, `${text.length} characters`);
});

Deno.test("the note in a shortened result says how to read what is missing", () => {
  const text = Array.from({ length: 20_000 }, (_, index) => `${index} `).join("");
  const steps = [
    modelDone(1, [call("read")]),
    callStep(2, "read", { output: { text, execution_id: "e1" } }),
  ];

  const { prompt } = decideKind(steps, 16_000, "call_model");

  const shown = prompt.messages.at(-1)?.text ?? "";
  const [, before, count, offset] =
    /data source=[^>]*>\n([^]*)\n\[(\d+) characters .*"offset": (\d+)\}/
      .exec(shown) ?? assert.fail(shown.slice(0, 100));
  const { output } = recalledResult({ name: "read", output: { text } }, 2, Number(offset));
  const recalled = `${before}${String(output.text).slice(0, 2_000)}`;
  assert.ok(text.startsWith(recalled), "recall_result goes on where the result was cut");
  assert.equal(
    shown.replace(/<[^>]*>\n?|\n\[.*\]\n/g, "").trimEnd().length + Number(count),
    text.trimEnd().length,
  );
});

/** The most summaries in 16 turns, by window: with one call in each turn, and with three. */
const MOST_SUMMARIES = [
  { callsInTurn: 1, most: { 8_000: 3, 12_000: 2, 16_000: 2, 24_000: 1, 32_000: 0 } },
  { callsInTurn: 3, most: { 8_000: 7, 12_000: 5, 16_000: 3, 24_000: 2, 32_000: 1 } },
];

Deno.test("a summary makes room for several turns, whatever the window and the results", () => {
  for (const { callsInTurn, most } of MOST_SUMMARIES) {
    for (const [window, limit] of Object.entries(most)) {
      for (const resultChars of [300, 1_400, 3_000, 6_000, 12_000, 40_000]) {
        for (const summaryWords of [100, 1_000]) {
          const job = {
            windowTokens: Number(window),
            turns: 16,
            callsInTurn,
            resultChars,
            summaryWords,
          };
          const { summaries } = playReadingJob(job);
          assert.ok(summaries <= limit, `${summaries} summaries: ${JSON.stringify(job)}`);
        }
      }
    }
  }
});

Deno.test("an input that cannot fit fails the task before any call", () => {
  const { error } = decideKind([], 8_000, "fail", "long ".repeat(20_000));

  assert.equal(error.code, "MODEL_CONTEXT_EXCEEDED");
  assert.match(error.message, /8000/);
});

Deno.test("a started summary is repeated under the same number", () => {
  const steps = turns(60, 1_400);
  const begun = decideKind(steps, 24_000, "summarize");
  const started: Step = {
    kind: "model",
    seq: begun.seq,
    state: "started",
    input: { summarizes_through: begun.through },
    output: null,
  };

  const again = decideKind([...steps, started], 24_000, "summarize");

  assert.deepEqual([again.seq, again.through], [begun.seq, begun.through]);
});

Deno.test("tokens are estimated from bytes, whatever the script", () => {
  const tokens = (text: string) =>
    estimatePromptTokens({ system: "", messages: [{ role: "user", text }], tools: [] }) - 8;

  assert.equal(tokens("a".repeat(350)), 100);
  assert.equal(tokens("é".repeat(350)), 200);
  assert.equal(tokens("語".repeat(350)), 300);
  assert.equal(tokens("🐝".repeat(350)), 400);
});
