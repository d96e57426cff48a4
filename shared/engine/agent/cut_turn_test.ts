import assert from "node:assert/strict";
import type { ModelToolCall } from "../../models/llm/model_port.ts";
import type { AgentState } from "./agent_state.ts";
import {
  call,
  callStep,
  modelCut,
  modelDone,
  modelStarted,
  stateOf,
  type StateParts,
  summaryDone,
  systemStep,
  toolNamed,
} from "./agent_states.ts";
import { decide, type Decision } from "./decide.ts";
import type { CallStep, Step } from "./task_context.ts";

type Kind = Decision["kind"];

function decideKind<K extends Kind>(state: AgentState, kind: K): Extract<Decision, { kind: K }> {
  const decision = decide(state);
  assert.equal(decision.kind, kind, JSON.stringify(decision));
  return decision as Extract<Decision, { kind: K }>;
}

/** The results of the calls of a turn that was cut, as the worker records them. */
function refused(state: AgentState): CallStep[] {
  return decideKind(state, "run_calls").calls.map((planned) => {
    assert.equal(planned.kind, "settled", JSON.stringify(planned));
    if (planned.kind !== "settled") throw new Error("not settled");
    const { intent, result } = planned;
    return { ...intent, state: result.state, output: result.output };
  });
}

/** A state whose last turn was cut, with the results of its calls. */
function afterRefusal(parts: StateParts): AgentState {
  const state = stateOf(parts);
  return { ...state, steps: [...state.steps, ...refused(state)] };
}

const lastText = ({ prompt }: Extract<Decision, { kind: "call_model" }>) =>
  prompt.messages.at(-1)?.text ?? "";

const EVERY_TOOL: readonly ModelToolCall[] = [
  call("write_file", {}),
  call("read_file", { path: "a" }),
  call("unknown_tool", {}),
  call("broken", null, '{"a'),
  call("create_subtask", { agent: "reader", input: "Read" }),
  call("request_human_review", { question: "Really?" }),
  call("save_intermediate_data", { key: "a", value: 1 }),
  call("load_skill", { skill_id: "s" }),
  call("recall_result", { step: 1 }),
  call("search_tools", { query: "mail" }),
  call("complete_task", { output: "Done" }),
];
const TOOLS = [toolNamed("write_file"), toolNamed("read_file", { isReadOnly: true })];
const SKILLS = [{ skill_id: "s", name: "s", description: "s" }];

Deno.test("decide() makes no call of a turn that was cut, whatever it is", () => {
  const state = stateOf({ tools: TOOLS, skills: SKILLS, steps: [modelCut(1, EVERY_TOOL)] });

  const results = refused(state);

  assert.deepEqual(
    results.map(({ name }) => name),
    EVERY_TOOL.map(({ name }) => name),
  );
  for (const { state, output } of results) {
    assert.equal(state, "failed");
    assert.equal((output as { error_code?: string }).error_code, "MODEL_OUTPUT_CUT");
    assert.match(String((output as { text?: string }).text), /was not called.*limit of 100 tokens/);
  }
});

Deno.test("decide() asks the model again with more room after a turn whose calls were cut", () => {
  const parts = { tools: TOOLS, steps: [modelCut(1, [call("write_file")], "Now:")] };
  const known = { ...parts, maxTokens: 500, modelMaxTokens: 4_000 };

  const { seq, maxTokens, continues, prompt } = decideKind(afterRefusal(known), "call_model");

  assert.deepEqual([seq, maxTokens, continues], [3, 4_000, undefined]);
  assert.deepEqual(prompt.messages.slice(1).map(({ role }) => role), ["assistant", "tool"]);
  assert.match(prompt.messages.at(-1)?.text ?? "", /was not called/);
  assert.equal(decideKind(afterRefusal(parts), "call_model").maxTokens, null, "the model's own");
});

Deno.test("decide() gives the model no more room than its window has, and no less than its agent", () => {
  const parts = { tools: TOOLS, steps: [modelCut(1, [call("write_file")])] };
  const inWindow = { ...parts, windowTokens: 20_000, modelMaxTokens: 64_000 };
  const below = { ...parts, maxTokens: 5_000, modelMaxTokens: 4_000 };

  const { maxTokens = 0 } = decideKind(afterRefusal(inWindow), "call_model");

  assert.ok(maxTokens !== null && maxTokens > 15_000 && maxTokens < 20_000, String(maxTokens));
  assert.equal(decideKind(afterRefusal(below), "call_model").maxTokens, 5_000);
});

Deno.test("decide() fails the task when the turn is cut again", () => {
  const again = afterRefusal({
    tools: TOOLS,
    steps: [
      ...afterRefusal({ tools: TOOLS, steps: [modelCut(1, [call("write_file")])] }).steps,
      modelCut(3, [call("write_file", { path: "a" })], "", { max_tokens: null }),
    ],
  });

  const { error } = decideKind(again, "fail");

  assert.equal(error.code, "MODEL_OUTPUT_CUT");
  assert.match(error.message, /limit of 100 tokens/);
});

Deno.test("decide() runs the calls of the turn that was asked again, and counts anew", () => {
  const cutOnce = afterRefusal({ tools: TOOLS, steps: [modelCut(1, [call("write_file")])] }).steps;
  const answered: Step[] = [
    ...cutOnce,
    { ...modelDone(3, [call("write_file", { path: "a" })]), input: { max_tokens: null } },
  ];
  const later: Step[] = [
    ...answered,
    callStep(4, "write_file"),
    modelCut(5, [call("write_file")]),
  ];

  const { calls } = decideKind(stateOf({ tools: TOOLS, steps: answered }), "run_calls");

  assert.deepEqual(calls.map(({ kind }) => kind), ["tool"]);
  assert.equal(decideKind(afterRefusal({ tools: TOOLS, steps: later }), "call_model").seq, 7);
});

Deno.test("decide() asks again when the reasoning has used all the room, and fails the second time", () => {
  const once = stateOf({ steps: [modelCut(1, [], " \n")] });
  const twice = stateOf({ steps: [...once.steps, modelCut(2, [], "", { max_tokens: null })] });

  const asked = decideKind(once, "call_model");

  assert.deepEqual([asked.seq, asked.maxTokens], [2, null]);
  assert.match(lastText(asked), /cut at the output limit of 100 tokens before it said anything/);
  assert.equal(asked.prompt.messages.some(({ role }) => role === "assistant"), false);
  assert.equal(decideKind(twice, "fail").error.code, "MODEL_OUTPUT_CUT");
});

const PARTS: readonly Step[] = [
  modelCut(1, [], "One, "),
  modelCut(2, [], "two, ", { continues: 1 }),
];

Deno.test("decide() has the model continue a text that was cut, and joins the parts", () => {
  const asked = decideKind(stateOf({ steps: PARTS }), "call_model");
  const done = stateOf({
    steps: [...PARTS, { ...modelDone(3, [], "three.\n"), input: { continues: 2 } }],
  });

  assert.deepEqual([asked.seq, asked.continues, asked.maxTokens], [3, 2, undefined]);
  assert.deepEqual(
    asked.prompt.messages.slice(1).map(({ role, text }) => [role, text.slice(0, 8)]),
    [
      ["assistant", "One, "],
      ["user", "Your ans"],
      ["assistant", "two, "],
      ["user", "Your ans"],
    ],
  );
  assert.match(lastText(asked), /Continue it exactly where it stopped/);
  assert.equal(decideKind(done, "finish").output, "One, two, three.");
});

Deno.test("decide() repeats a continuation whose worker died as the same call", () => {
  const recorded = { ...modelStarted(3), input: { continues: 2 } };
  const before = decideKind(stateOf({ steps: PARTS }), "call_model");

  const again = decideKind(stateOf({ steps: [...PARTS, recorded] }), "call_model");

  assert.deepEqual(again, before);
});

Deno.test("decide() ends a text that stays cut: with the text, or as failed if it must be whole", () => {
  const steps = [...PARTS, modelCut(3, [], "three", { continues: 2 })];
  const stillCut = (parts: StateParts) => stateOf({ ...parts, steps, maxContinuations: 2 });

  assert.equal(decideKind(stillCut({}), "finish").output, "One, two, three");
  for (const parts of [{ outputSchema: { type: "string" } }, { mustComplete: true }]) {
    assert.equal(decideKind(stillCut(parts), "fail").error.code, "MODEL_OUTPUT_CUT");
  }
  assert.equal(decideKind(stateOf({ steps }), "call_model").continues, 3);
  assert.equal(
    decideKind(stateOf({ steps: steps.slice(0, 1), maxContinuations: 0 }), "finish").output,
    "One,",
  );
});

Deno.test("decide() ends a cut text when the agent has no turn left for a continuation", () => {
  assert.equal(decideKind(stateOf({ steps: PARTS, maxTurns: 2 }), "finish").output, "One, two,");
  assert.equal(
    decideKind(stateOf({ steps: PARTS, maxTurns: 2, mustComplete: true }), "fail").error.code,
    "TURNS_EXCEEDED",
  );
});

const CITY = {
  type: "object",
  properties: { name: { type: "string" }, people: { type: "integer" } },
  required: ["name"],
  additionalProperties: false,
};

Deno.test("decide() lets the rest of a typed answer be written freely, and checks the whole", () => {
  const first = modelCut(1, [], '{"name": "Be');
  const asked = decideKind(stateOf({ outputSchema: CITY, steps: [first] }), "call_model");
  const withRest = (rest: string) =>
    stateOf({
      outputSchema: CITY,
      steps: [first, { ...modelDone(2, [], rest), input: { continues: 1 } }],
    });

  assert.equal(asked.prompt.output, undefined);
  assert.deepEqual(decideKind(withRest('rn"}'), "finish").output, { name: "Bern" });
  // The provider's form of the schema has null for what is absent.
  assert.deepEqual(decideKind(withRest('rn", "people": null}'), "finish").output, { name: "Bern" });
  const corrected = decideKind(withRest('rn", "people": "many"}'), "call_model");
  assert.match(lastText(corrected), /people/);
  assert.equal(corrected.continues, undefined);
  assert.notEqual(corrected.prompt.output, undefined);
});

Deno.test("decide() counts the parts of an answer as one when it reminds the agent", () => {
  const steps = [
    modelCut(1, [], "Ro"),
    { ...modelDone(2, [], "ses"), input: { continues: 1 } },
  ];

  const { prompt } = decideKind(stateOf({ mustComplete: true, steps }), "call_model");

  assert.match(prompt.messages.at(-1)?.text ?? "", /complete_task/);
});

Deno.test("decide() asks a continuation without text again as a continuation", () => {
  const steps = [modelCut(1, [], "One, "), modelCut(2, [], "", { continues: 1 })];
  const asked = decideKind(stateOf({ steps }), "call_model");
  const done = { ...modelDone(3, [], "two."), input: { continues: 1, max_tokens: null } };
  const cutAgain = modelCut(3, [], "", { continues: 1, max_tokens: null });

  assert.deepEqual([asked.continues, asked.maxTokens], [1, null]);
  assert.equal(decideKind(stateOf({ steps: [...steps, done] }), "finish").output, "One, two.");
  assert.equal(decideKind(stateOf({ steps: [...steps, cutAgain] }), "finish").output, "One,");
});

Deno.test("decide() gives a continuation the room that its turn was given, and no third try", () => {
  const asked = afterRefusal({ tools: TOOLS, steps: [modelCut(1, [call("write_file")])] }).steps;
  const text = [...asked, modelCut(3, [], "Well, ", { max_tokens: null })];

  const { continues, maxTokens } = decideKind(stateOf({ tools: TOOLS, steps: text }), "call_model");
  const cutAgain = afterRefusal({
    tools: TOOLS,
    steps: [...text, modelCut(4, [call("write_file")], "", { continues: 3, max_tokens: null })],
  });

  assert.deepEqual([continues, maxTokens], [3, null]);
  assert.equal(decideKind(cutAgain, "fail").error.code, "MODEL_OUTPUT_CUT");
});

Deno.test("decide() continues a text also after a summary of the turns before it", () => {
  const steps = [...PARTS, summaryDone(3, 1, "One was said.")];

  const { seq, continues } = decideKind(stateOf({ steps }), "call_model");
  const done = [...steps, { ...modelDone(4, [], "three."), input: { continues: 2 } }];

  assert.deepEqual([seq, continues], [4, 2]);
  assert.equal(decideKind(stateOf({ steps: done }), "finish").output, "One, two, three.");
});

Deno.test("decide() goes on with the calls of a cut turn that an older worker has made", () => {
  const cut = modelCut(1, [call("write_file"), call("create_subtask", { agent: "a", input: "b" })]);
  const running = systemStep(3, "create_subtask", { state: "started", output: null });
  const waiting = stateOf({
    tools: TOOLS,
    steps: [cut, callStep(2, "write_file"), running],
    spawned: [3],
  });
  const ended = stateOf({
    tools: TOOLS,
    steps: [cut, callStep(2, "write_file"), systemStep(3, "create_subtask")],
  });

  assert.equal(decide(waiting).kind, "park");
  const { seq, maxTokens } = decideKind(ended, "call_model");
  assert.deepEqual([seq, maxTokens], [4, undefined]);
});

Deno.test("decide() asks anew when a task is retried that failed because its turn was cut", () => {
  const withCalls = afterRefusal({
    tools: TOOLS,
    steps: [modelCut(1, [call("write_file")], "", { max_tokens: null, retried: true })],
  });
  const withText = stateOf({
    outputSchema: { type: "string" },
    steps: [modelCut(1, [], "One, "), modelCut(2, [], "two, ", { continues: 1, retried: true })],
  });

  for (const state of [withCalls, withText]) {
    const { seq, continues, maxTokens, prompt } = decideKind(state, "call_model");
    assert.deepEqual([seq, continues, maxTokens], [3, undefined, undefined]);
    assert.equal(prompt.messages.length, 1, JSON.stringify(prompt.messages));
  }
  const done = [...withText.steps, modelDone(3, [], "Three.")];
  assert.equal(decideKind({ ...withText, steps: done }, "finish").output, "Three.");
});

Deno.test("decide() answers the next message after a text that stayed cut", () => {
  const message: Step = { kind: "user", seq: 2, state: "done", input: "And now?" };
  const state = stateOf({ steps: [modelCut(1, [], "One, "), message] });

  const { seq, continues, prompt } = decideKind(state, "call_model");

  assert.deepEqual([seq, continues], [3, undefined]);
  assert.deepEqual(prompt.messages.slice(1).map(({ text }) => text), ["One, ", "And now?"]);
});
