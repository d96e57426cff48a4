import assert from "node:assert/strict";
import {
  call,
  callStep,
  modelDone,
  modelStarted,
  stateOf,
  systemStep,
  toolNamed,
} from "./agent_states.ts";
import type { JsonValue } from "../json.ts";
import { validateValue } from "../tool_schemas/validate_value.ts";
import type { AgentState } from "./agent_state.ts";
import { decide, type Decision } from "./decide.ts";
import type { RunnableCall } from "./planned_call.ts";
import { rejectedResult } from "./step_result.ts";
import type { Step } from "./task_context.ts";

type Kind = Decision["kind"];

function decideKind<K extends Kind>(state: AgentState, kind: K): Extract<Decision, { kind: K }> {
  const decision = decide(state);
  assert.equal(decision.kind, kind, JSON.stringify(decision));
  return decision as Extract<Decision, { kind: K }>;
}

function onlyCall<K extends RunnableCall["kind"]>(state: AgentState, kind: K) {
  const { calls } = decideKind(state, "run_calls");
  assert.equal(calls.length, 1);
  const [only] = calls;
  assert.equal(only?.kind, kind, JSON.stringify(only));
  return only as Extract<RunnableCall, { kind: K }>;
}

const reject = (seq: number, name: string) =>
  callStep(seq, name, { ...rejectedResult("TOOL_NOT_FOUND", "no such tool") });

Deno.test("a new task begins with a model call as step 1", () => {
  const { seq, prompt } = decideKind(stateOf(), "call_model");

  assert.equal(seq, 1);
  assert.deepEqual(prompt.messages, [{ role: "user", text: "Write a poem" }]);
  assert.equal(prompt.tools.length, 5);
});

Deno.test("a started model call is made again under the same number", () => {
  const state = stateOf({ steps: [modelDone(1, [], "hm"), modelStarted(2)] });

  assert.equal(decideKind(state, "call_model").seq, 2);
});

Deno.test("the model call after a turn takes the number after the turn's calls", () => {
  const state = stateOf({
    steps: [modelDone(1, [call("a"), call("b")]), callStep(2, "a"), callStep(3, "b")],
  });

  assert.equal(decideKind(state, "call_model").seq, 4);
});

Deno.test("a task whose agent was deleted fails", () => {
  const state = stateOf();

  const decision = decide({ ...state, context: { ...state.context, agent: null } });

  assert.equal(decision.kind, "fail");
});

Deno.test("a plain answer is the output", () => {
  const state = stateOf({ steps: [modelDone(1, [], " Roses ")] });

  const { output, completion } = decideKind(state, "finish");

  assert.equal(output, "Roses");
  assert.equal(completion, null);
});

Deno.test("an agent that must complete its tasks is reminded of it, once in a row", () => {
  const parts = { mustComplete: true };
  const first = stateOf({ ...parts, steps: [modelDone(1, [], "Roses")] });
  const second = stateOf({ ...parts, steps: [...first.steps, modelDone(2, [], "Violets")] });

  const { prompt, seq } = decideKind(first, "call_model");

  assert.equal(seq, 2);
  const last = prompt.messages.at(-1);
  assert.ok(last?.role === "user" && last.text.includes("complete_task"));
  assert.equal(decideKind(second, "finish").output, "Violets");
});

Deno.test("a turn with a call between two plain answers starts the count anew", () => {
  const state = stateOf({
    mustComplete: true,
    steps: [
      modelDone(1, [], "Roses"),
      modelDone(2, [call("a")]),
      callStep(3, "a"),
      modelDone(4, [], "Violets"),
    ],
  });

  assert.equal(decideKind(state, "call_model").seq, 5);
});

Deno.test("two empty answers in a row fail the task instead of completing it with nothing", () => {
  const once = stateOf({ steps: [modelDone(1)] });
  const twice = stateOf({ steps: [modelDone(1), modelDone(2)] });

  assert.equal(decideKind(once, "call_model").seq, 2);
  assert.equal(decideKind(twice, "fail").error.code, "MODEL_OUTPUT_INVALID");
});

const CITY = {
  type: "object",
  properties: { name: { type: "string" }, people: { type: "integer" } },
  required: ["name", "people"],
};
const complete = (output: JsonValue) => call("complete_task", { output });

Deno.test("a plain answer that fits the output schema is the typed output", () => {
  for (
    const text of ['{"name":"Bern","people":1}', '```json\n{"name":"Bern","people":1}\n```']
  ) {
    const state = stateOf({ outputSchema: CITY, steps: [modelDone(1, [], text)] });

    assert.deepEqual(decideKind(state, "finish").output, { name: "Bern", people: 1 });
  }
});

Deno.test("a completion is checked against the output schema, also one written as text", () => {
  const outputs: JsonValue[] = [{ name: "Bern", people: 1 }, '{"name":"Bern","people":1}'];
  for (const output of outputs) {
    const state = stateOf({ outputSchema: CITY, steps: [modelDone(1, [complete(output)])] });

    assert.deepEqual(decideKind(state, "finish").output, { name: "Bern", people: 1 });
  }
});

Deno.test("a completion stored before the task ended keeps its typed output", () => {
  const steps = [
    modelDone(1, [complete('{"name":"Bern","people":1}')]),
    systemStep(2, "complete_task"),
  ];

  const { output } = decideKind(stateOf({ outputSchema: CITY, steps }), "finish");

  assert.deepEqual(output, { name: "Bern", people: 1 });
});

Deno.test("an output that does not fit goes back with what is wrong, at most twice", () => {
  let steps: Step[] = [];
  const answers = [[complete({ name: "Bern" })], [], [complete({ name: 1, people: 1 })]];
  for (const [index, calls] of answers.entries()) {
    const seq = steps.length + 1;
    steps = [...steps, modelDone(seq, calls, calls.length === 0 ? "It is Bern." : "")];
    if (calls.length > 0) {
      const { result } = onlyCall(stateOf({ outputSchema: CITY, steps }), "settled");
      assert.match(String(result.output.text), index === 0 ? /people/ : /name/);
      steps = [...steps, systemStep(seq + 1, "complete_task", { ...result })];
    }
    const next = decide(stateOf({ outputSchema: CITY, steps }));

    assert.equal(next.kind, index < 2 ? "call_model" : "fail");
    if (next.kind === "fail") {
      assert.equal(next.error.code, "OUTPUT_SCHEMA_MISMATCH");
      assert.match(next.error.message, /name/);
    }
  }
});

Deno.test("complete_task takes the output schema, with its references", () => {
  const schema = {
    $defs: { city: CITY },
    type: "object",
    properties: { cities: { type: "array", items: { $ref: "#/$defs/city" } } },
  };

  const { prompt } = decideKind(stateOf({ outputSchema: schema }), "call_model");

  const { inputSchema } = prompt.tools.find(({ name }) => name === "complete_task") ?? {};
  assert.ok(inputSchema !== undefined);
  const fitting = { output: { cities: [{ name: "Bern", people: 1 }] } };
  const unfit = { output: { cities: [{ name: "Bern" }] } };
  assert.equal(validateValue(fitting, inputSchema).kind, "valid");
  assert.equal(validateValue(unfit, inputSchema).kind, "invalid");
  assert.deepEqual(prompt.output, { schema, isBesideTools: false });
});

Deno.test("an output schema that cannot be used fails the task and says so", () => {
  const outputSchema = { $ref: "#/$defs/nowhere" };
  const answer = stateOf({ outputSchema, steps: [modelDone(1, [], "{}")] });
  const completion = stateOf({ outputSchema, steps: [modelDone(1, [complete({})])] });
  const { intent, result } = onlyCall(completion, "settled");
  const settled = stateOf({
    outputSchema,
    steps: [...completion.steps, systemStep(intent.seq, "complete_task", { ...result })],
  });

  for (const state of [answer, settled]) {
    assert.equal(decideKind(state, "fail").error.code, "OUTPUT_SCHEMA_INVALID");
  }
});

Deno.test("a refusal fails the task", () => {
  const step = modelDone(1, [], "I cannot help with that");
  const refused = {
    ...step,
    output: step.output && { ...step.output, finish_reason: "refused" as const },
  };

  assert.equal(decideKind(stateOf({ steps: [refused] }), "fail").error.code, "MODEL_REFUSED");
});

Deno.test("the calls of a turn run side by side, numbered in call order", () => {
  const state = stateOf({
    steps: [modelDone(1, [call("read"), call("save_intermediate_data", { key: "k", value: 1 })])],
    tools: [toolNamed("read")],
  });

  const { calls } = decideKind(state, "run_calls");

  assert.deepEqual(calls.map(({ kind, intent }) => [kind, intent.seq]), [["tool", 2], ["save", 3]]);
});

Deno.test("an ended call of a turn is never run again", () => {
  const state = stateOf({
    steps: [modelDone(1, [call("read"), call("write")]), callStep(2, "read")],
    tools: [toolNamed("read"), toolNamed("write")],
  });

  assert.equal(onlyCall(state, "tool").intent.seq, 3);
});

Deno.test("an unknown tool is answered with the nearest names and not called", () => {
  const state = stateOf({
    steps: [modelDone(1, [call("read_fil")])],
    tools: [toolNamed("read_file"), toolNamed("delete_everything")],
  });

  const { result } = onlyCall(state, "settled");

  assert.equal(result.output.error_code, "TOOL_NOT_FOUND");
  assert.match(String(result.output.text), /Did you mean read_file\?/);
});

Deno.test("arguments that are not JSON are shown to the model and not guessed at", () => {
  const state = stateOf({
    steps: [modelDone(1, [call("read", null, '{"path": ')])],
    tools: [toolNamed("read")],
  });

  const { result } = onlyCall(state, "settled");

  assert.equal(result.state, "failed");
  assert.equal(result.output.error_code, "TOOL_ARGUMENTS_INVALID");
  assert.match(String(result.output.text), /\{"path": /);
});

Deno.test("unfit arguments of a system tool are named by their path", () => {
  const state = stateOf({
    steps: [modelDone(1, [call("create_subtask", { agent: 5, input: "x" })])],
  });

  const { result } = onlyCall(state, "settled");

  assert.match(String(result.output.text), /agent: /);
});

Deno.test("a key that is a path is refused", () => {
  for (const key of ["../secrets", "a/b", "", ".hidden", "x".repeat(101)]) {
    const state = stateOf({
      steps: [modelDone(1, [call("save_intermediate_data", { key, value: 1 })])],
    });

    assert.equal(onlyCall(state, "settled").result.state, "failed", key);
  }
});

Deno.test("a skill that is not the agent's own is refused with the nearest", () => {
  const state = stateOf({
    steps: [modelDone(1, [call("load_skill", { skill_id: "summarise" })])],
    skills: [{ skill_id: "summarize", name: "Summarize", description: "How to summarize" }],
  });

  const { result } = onlyCall(state, "settled");

  assert.equal(result.output.error_code, "SKILL_NOT_FOUND");
  assert.match(String(result.output.text), /summarize/);
});

Deno.test("three turns of nothing but impossible calls fail the task", () => {
  const twoTurns = [modelDone(1, [call("x")]), reject(2, "x"), modelDone(3, [call("y")])];
  const steps = [...twoTurns, reject(4, "y"), modelDone(5, [call("z")]), reject(6, "z")];

  assert.equal(decideKind(stateOf({ steps: steps.slice(0, 4) }), "call_model").seq, 5);
  assert.equal(decideKind(stateOf({ steps }), "fail").error.code, "MODEL_OUTPUT_INVALID");
});

Deno.test("one possible call among impossible ones keeps the task going", () => {
  const steps = [
    ...[1, 3].flatMap((seq) => [modelDone(seq, [call("x")]), reject(seq + 1, "x")]),
    modelDone(5, [call("x"), call("read")]),
    reject(6, "x"),
    callStep(7, "read"),
  ];

  assert.equal(decideKind(stateOf({ steps }), "call_model").seq, 8);
});

Deno.test("attempts of a tool are counted by its failures in a row, across turns", () => {
  const failed = (seq: number) => callStep(seq, "read", { state: "failed" });
  const steps = [
    modelDone(1, [call("read")]),
    failed(2),
    modelDone(3, [call("read"), call("read")]),
    failed(4),
    callStep(5, "read"),
    modelDone(6, [call("read")]),
    failed(7),
    modelDone(8, [call("read")]),
  ];

  const attempt = (upTo: number) =>
    onlyCall(stateOf({ steps: steps.slice(0, upTo), tools: [toolNamed("read")] }), "tool").attempt;

  assert.equal(attempt(1), 1);
  assert.equal(attempt(6), 1, "the success of the second turn starts the count anew");
  assert.equal(attempt(8), 2);
});

Deno.test("a tool of another server does not share the count", () => {
  const steps = [
    modelDone(1, [call("read")]),
    callStep(2, "read", { state: "failed", input: { server: "mail" } }),
    modelDone(3, [call("read")]),
  ];

  const planned = onlyCall(stateOf({ steps, tools: [toolNamed("read")] }), "tool");

  assert.equal(planned.attempt, 1);
});

// Ending -----------------------------------------------------------------------------------------

Deno.test("complete_task ends the task with its output", () => {
  const state = stateOf({ steps: [modelDone(1, [call("complete_task", { output: { n: 1 } })])] });

  const { output, completion } = decideKind(state, "finish");

  assert.deepEqual(output, { n: 1 });
  assert.equal(completion?.seq, 2);
});

Deno.test("complete_task waits for the calls beside it", () => {
  const turn = modelDone(1, [call("complete_task", { output: 1 }), call("read")]);
  const tools = [toolNamed("read")];

  assert.equal(onlyCall(stateOf({ steps: [turn], tools }), "tool").intent.seq, 3);
  decideKind(stateOf({ steps: [turn, callStep(3, "read")], tools }), "finish");
});

Deno.test("complete_task beside create_subtask or request_human_review is an error result", () => {
  for (
    const other of [
      call("create_subtask", { agent: "reader", input: "x" }),
      call("request_human_review", { question: "May I?" }),
    ]
  ) {
    const state = stateOf({
      steps: [modelDone(1, [call("complete_task", { output: 1 }), other])],
      spawned: [3],
    });

    const { result } = onlyCall(state, "settled");

    assert.equal(result.output.error_code, "STEP_CONFLICT");
  }
});

Deno.test("of two complete_task calls the first counts", () => {
  const steps = [
    modelDone(1, [call("complete_task", { output: 1 }), call("complete_task", { output: 2 })]),
  ];

  assert.equal(onlyCall(stateOf({ steps }), "settled").intent.seq, 3);

  const ended = [...steps, systemStep(3, "complete_task", { state: "failed" })];
  assert.equal(decideKind(stateOf({ steps: ended }), "finish").output, 1);
});

Deno.test("a recorded complete_task ends the task after its worker died", () => {
  const state = stateOf({
    steps: [modelDone(1, [call("complete_task", { output: "x" })]), systemStep(2, "complete_task")],
  });

  const { output, completion } = decideKind(state, "finish");

  assert.equal(output, "x");
  assert.equal(completion, null);
});

Deno.test("a refused complete_task does not end the task", () => {
  const state = stateOf({
    steps: [
      modelDone(1, [call("complete_task", { output: "x" })]),
      systemStep(2, "complete_task", { state: "failed" }),
    ],
  });

  assert.equal(decideKind(state, "call_model").seq, 3);
});

// Subtasks and reviews ---------------------------------------------------------------------------

const handoffs = [
  call("create_subtask", { agent: "reader", input: "a" }),
  call("create_subtask", { agent: "reader", input: { file: "b" } }),
];

Deno.test("subtasks of a turn are created together, before the turn's other calls run", () => {
  const state = stateOf({
    steps: [modelDone(1, [call("read"), ...handoffs])],
    tools: [toolNamed("read")],
  });

  const { calls } = decideKind(state, "spawn");

  assert.deepEqual(calls.map(({ intent, input }) => [intent.seq, input]), [
    [3, "a"],
    [4, { file: "b" }],
  ]);
});

Deno.test("a task with created subtasks waits for them after its other calls", () => {
  const steps = [
    modelDone(1, [call("read"), ...handoffs]),
    systemStep(3, "create_subtask", { state: "started", output: null }),
    systemStep(4, "create_subtask", { state: "started", output: null }),
  ];
  const tools = [toolNamed("read")];

  assert.equal(onlyCall(stateOf({ steps, tools, spawned: [3, 4] }), "tool").intent.seq, 2);
  const { awaited } = decideKind(
    stateOf({ steps: [...steps, callStep(2, "read")], tools, spawned: [3, 4] }),
    "park",
  );
  assert.deepEqual(awaited.map(({ seq }) => seq), [3, 4]);
});

Deno.test("after a crash subtasks are asked for again, since asking twice makes them once", () => {
  const steps = [
    modelDone(1, handoffs),
    systemStep(2, "create_subtask", { state: "started", output: null }),
    systemStep(3, "create_subtask", { output: { agent: "reader", status: "completed" } }),
  ];

  assert.deepEqual(
    decideKind(stateOf({ steps }), "spawn").calls.map(({ intent }) => intent.seq),
    [2],
  );
});

Deno.test("failed and completed children stand in call order before the next model call", () => {
  const child = (status: string) => ({ agent: "reader", status });
  const state = stateOf({
    steps: [
      modelDone(1, handoffs),
      systemStep(2, "create_subtask", { state: "failed", output: child("failed") }),
      systemStep(3, "create_subtask", { output: child("completed") }),
    ],
  });

  const { prompt } = decideKind(state, "call_model");

  const results = prompt.messages.filter((message) => message.role === "tool");
  assert.deepEqual(results.map(({ is_error }) => is_error), [true, false]);
  assert.ok(results.every(({ text }) => text.startsWith("<untrusted_data")));
});

Deno.test("a question to a person is asked after the turn's other calls, one at a time", () => {
  const steps = [
    modelDone(1, [
      call("request_human_review", { question: "One?" }),
      call("request_human_review", { question: "Two?", options: ["a"] }),
    ]),
  ];

  assert.equal(decideKind(stateOf({ steps }), "review").call.question, "One?");
  const answered = [...steps, systemStep(2, "request_human_review", { output: {} })];
  assert.deepEqual(decideKind(stateOf({ steps: answered }), "review").call.options, ["a"]);
});

// Calls that a lost worker had started -----------------------------------------------------------

const started = (parts: { is_read_only?: boolean; is_idempotent?: boolean } = {}) => [
  modelDone(1, [call("pay", { amount: 5 })]),
  callStep(2, "pay", {
    state: "started",
    input: { server: "files", is_read_only: false, is_idempotent: false, ...parts },
  }),
];

Deno.test("a started call runs again when its tool is read-only or idempotent", () => {
  for (const flag of ["is_read_only", "is_idempotent"]) {
    const state = stateOf({ steps: started({ [flag]: true }), tools: [toolNamed("pay")] });

    assert.equal(onlyCall(state, "tool").intent.seq, 2, flag);
  }
});

Deno.test("a call whose intent this delivery wrote itself runs", () => {
  const state = stateOf({ steps: started(), tools: [toolNamed("pay")], untried: [2] });

  assert.deepEqual(onlyCall(state, "tool").arguments, { amount: 5 });
});

Deno.test("a started call of any other tool asks a person first", () => {
  const state = stateOf({ steps: started(), tools: [toolNamed("pay")] });

  const { call: review } = decideKind(state, "review");

  assert.equal(review.intent.seq, 2);
  assert.match(review.question, /outcome is unknown/);
});

Deno.test("it asks even when the tool claims only now to be idempotent, or has gone", () => {
  for (const tools of [[toolNamed("pay", { isIdempotent: true })], []]) {
    decideKind(stateOf({ steps: started(), tools }), "review");
  }
});

const answer = (approved: boolean | null, comments: string | null = null) => ({
  seq: 2,
  approved,
  response: {},
  comments,
  answered_at: "2026-11-21T10:00:00Z",
  is_spent: false,
});

Deno.test("with a person's approval the call runs again", () => {
  const state = stateOf({
    steps: started(),
    tools: [toolNamed("pay")],
    reviews: [answer(true)],
  });

  assert.equal(onlyCall(state, "tool").intent.seq, 2);
});

Deno.test("an approval holds for one run: after that the agent reads that the outcome is unknown", () => {
  const state = stateOf({
    steps: started(),
    tools: [toolNamed("pay")],
    reviews: [{ ...answer(true), is_spent: true }],
  });

  assert.equal(onlyCall(state, "settled").result.output.error_code, "TOOL_OUTCOME_UNKNOWN");
});

Deno.test("without it the agent reads that the outcome is unknown, and the person's words", () => {
  for (const approved of [false, null]) {
    const state = stateOf({
      steps: started(),
      tools: [toolNamed("pay")],
      reviews: [answer(approved, "I have checked: it was paid")],
    });

    const { result } = onlyCall(state, "settled");

    assert.equal(result.output.error_code, "TOOL_OUTCOME_UNKNOWN");
    assert.match(String(result.output.text), /I have checked: it was paid/);
  }
});

Deno.test("the other calls of the turn run before a person is asked about one", () => {
  const state = stateOf({
    steps: [
      modelDone(1, [call("pay"), call("read")]),
      ...started().slice(1),
    ],
    tools: [toolNamed("pay"), toolNamed("read")],
  });

  assert.equal(onlyCall(state, "tool").intent.seq, 3);
});
