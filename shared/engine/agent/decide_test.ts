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
import type { JsonValue } from "../../platform/values/json.ts";
import { validateValue } from "../../models/tool_schemas/validate_value.ts";
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

Deno.test("decide() starts a new task with a model call as step 1", () => {
  const { seq, prompt } = decideKind(stateOf(), "call_model");

  assert.equal(seq, 1);
  assert.deepEqual(prompt.messages, [{ role: "user", text: "Write a poem" }]);
  assert.equal(prompt.tools.length, 5);
});

Deno.test("decide() repeats a started model call under the same number", () => {
  const state = stateOf({ steps: [modelDone(1, [], "hm"), modelStarted(2)] });

  assert.equal(decideKind(state, "call_model").seq, 2);
});

Deno.test("decide() numbers the next model call after the calls of the turn", () => {
  const state = stateOf({
    steps: [modelDone(1, [call("a"), call("b")]), callStep(2, "a"), callStep(3, "b")],
  });

  assert.equal(decideKind(state, "call_model").seq, 4);
});

Deno.test("decide() fails a task whose agent was deleted", () => {
  const state = stateOf();

  const decision = decide({ ...state, context: { ...state.context, agent: null } });

  assert.equal(decision.kind, "fail");
});

Deno.test("decide() uses a plain answer as the output", () => {
  const state = stateOf({ steps: [modelDone(1, [], " Roses ")] });

  const { output, completion } = decideKind(state, "finish");

  assert.equal(output, "Roses");
  assert.equal(completion, null);
});

Deno.test("decide() reminds an agent that must complete its tasks once in a row", () => {
  const parts = { mustComplete: true };
  const first = stateOf({ ...parts, steps: [modelDone(1, [], "Roses")] });
  const second = stateOf({ ...parts, steps: [...first.steps, modelDone(2, [], "Violets")] });

  const { prompt, seq } = decideKind(first, "call_model");

  assert.equal(seq, 2);
  const last = prompt.messages.at(-1);
  assert.ok(last?.role === "user" && last.text.includes("complete_task"));
  assert.equal(decideKind(second, "finish").output, "Violets");
});

Deno.test("decide() restarts the count after a turn with a call between two plain answers", () => {
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

Deno.test("decide() fails a task after two empty answers in a row", () => {
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

Deno.test("decide() uses a plain answer that matches the output schema as the typed output", () => {
  for (const text of ['{"name":"Bern","people":1}', '```json\n{"name":"Bern","people":1}\n```']) {
    const state = stateOf({ outputSchema: CITY, steps: [modelDone(1, [], text)] });

    assert.deepEqual(decideKind(state, "finish").output, { name: "Bern", people: 1 });
  }
});

Deno.test("decide() checks a completion against the output schema, even one written as text", () => {
  const outputs: JsonValue[] = [{ name: "Bern", people: 1 }, '{"name":"Bern","people":1}'];
  for (const output of outputs) {
    const state = stateOf({ outputSchema: CITY, steps: [modelDone(1, [complete(output)])] });

    assert.deepEqual(decideKind(state, "finish").output, { name: "Bern", people: 1 });
  }
});

Deno.test("decide() keeps the typed output of a completion stored before the task ended", () => {
  const steps = [
    modelDone(1, [complete('{"name":"Bern","people":1}')]),
    systemStep(2, "complete_task"),
  ];

  const { output } = decideKind(stateOf({ outputSchema: CITY, steps }), "finish");

  assert.deepEqual(output, { name: "Bern", people: 1 });
});

Deno.test("decide() returns an invalid output with its problems, at most twice", () => {
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

Deno.test("complete_task has the output schema, with its references", () => {
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

Deno.test("decide() fails a task with an unusable output schema, and names the problem", () => {
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

Deno.test("decide() fails a task after a refusal", () => {
  const step = modelDone(1, [], "I cannot help with that");
  const refused = {
    ...step,
    output: step.output && { ...step.output, finish_reason: "refused" as const },
  };

  assert.equal(decideKind(stateOf({ steps: [refused] }), "fail").error.code, "MODEL_REFUSED");
});

Deno.test("decide() runs the calls of a turn in parallel, numbered in call order", () => {
  const state = stateOf({
    steps: [modelDone(1, [call("read"), call("save_intermediate_data", { key: "k", value: 1 })])],
    tools: [toolNamed("read")],
  });

  const { calls } = decideKind(state, "run_calls");

  assert.deepEqual(calls.map(({ kind, intent }) => [kind, intent.seq]), [["tool", 2], ["save", 3]]);
});

Deno.test("decide() never repeats a finished call of a turn", () => {
  const state = stateOf({
    steps: [modelDone(1, [call("read"), call("write")]), callStep(2, "read")],
    tools: [toolNamed("read"), toolNamed("write")],
  });

  assert.equal(onlyCall(state, "tool").intent.seq, 3);
});

Deno.test("decide() answers an unknown tool with the nearest names and does not call it", () => {
  const state = stateOf({
    steps: [modelDone(1, [call("read_fil")])],
    tools: [toolNamed("read_file"), toolNamed("delete_everything")],
  });

  const { result } = onlyCall(state, "settled");

  assert.equal(result.output.error_code, "TOOL_NOT_FOUND");
  assert.match(String(result.output.text), /Did you mean read_file\?/);
});

Deno.test("decide() shows arguments that are not JSON to the model instead of guessing", () => {
  const state = stateOf({
    steps: [modelDone(1, [call("read", null, '{"path": ')])],
    tools: [toolNamed("read")],
  });

  const { result } = onlyCall(state, "settled");

  assert.equal(result.state, "failed");
  assert.equal(result.output.error_code, "TOOL_ARGUMENTS_INVALID");
  assert.match(String(result.output.text), /\{"path": /);
});

Deno.test("decide() names invalid arguments of a system tool by path", () => {
  const state = stateOf({
    steps: [modelDone(1, [call("create_subtask", { agent: 5, input: "x" })])],
  });

  const { result } = onlyCall(state, "settled");

  assert.match(String(result.output.text), /agent: /);
});

Deno.test("decide() refuses a key that is a path", () => {
  for (const key of ["../secrets", "a/b", "", ".hidden", "x".repeat(101)]) {
    const state = stateOf({
      steps: [modelDone(1, [call("save_intermediate_data", { key, value: 1 })])],
    });

    assert.equal(onlyCall(state, "settled").result.state, "failed", key);
  }
});

Deno.test("decide() refuses a skill that the agent does not have, and names the nearest one", () => {
  const state = stateOf({
    steps: [modelDone(1, [call("load_skill", { skill_id: "summarise" })])],
    skills: [{ skill_id: "summarize", name: "Summarize", description: "How to summarize" }],
  });

  const { result } = onlyCall(state, "settled");

  assert.equal(result.output.error_code, "SKILL_NOT_FOUND");
  assert.match(String(result.output.text), /summarize/);
});

Deno.test("decide() fails a task after three turns with only impossible calls", () => {
  const twoTurns = [modelDone(1, [call("x")]), reject(2, "x"), modelDone(3, [call("y")])];
  const steps = [...twoTurns, reject(4, "y"), modelDone(5, [call("z")]), reject(6, "z")];

  assert.equal(decideKind(stateOf({ steps: steps.slice(0, 4) }), "call_model").seq, 5);
  assert.equal(decideKind(stateOf({ steps }), "fail").error.code, "MODEL_OUTPUT_INVALID");
});

Deno.test("decide() continues a task with one possible call among impossible ones", () => {
  const steps = [
    ...[1, 3].flatMap((seq) => [modelDone(seq, [call("x")]), reject(seq + 1, "x")]),
    modelDone(5, [call("x"), call("read")]),
    reject(6, "x"),
    callStep(7, "read"),
  ];

  assert.equal(decideKind(stateOf({ steps }), "call_model").seq, 8);
});

Deno.test("decide() counts consecutive failures of a tool across turns", () => {
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
  assert.equal(attempt(6), 1, "the success in the second turn resets the count");
  assert.equal(attempt(8), 2);
});

Deno.test("decide() counts the failures of another server's tool separately", () => {
  const steps = [
    modelDone(1, [call("read")]),
    callStep(2, "read", { state: "failed", input: { server: "mail" } }),
    modelDone(3, [call("read")]),
  ];

  const planned = onlyCall(stateOf({ steps, tools: [toolNamed("read")] }), "tool");

  assert.equal(planned.attempt, 1);
});

// Ending -----------------------------------------------------------------------------------------

Deno.test("decide() ends a task with the output of complete_task", () => {
  const state = stateOf({ steps: [modelDone(1, [call("complete_task", { output: { n: 1 } })])] });

  const { output, completion } = decideKind(state, "finish");

  assert.deepEqual(output, { n: 1 });
  assert.equal(completion?.seq, 2);
});

Deno.test("decide() runs the other calls of the turn before complete_task", () => {
  const turn = modelDone(1, [call("complete_task", { output: 1 }), call("read")]);
  const tools = [toolNamed("read")];

  assert.equal(onlyCall(stateOf({ steps: [turn], tools }), "tool").intent.seq, 3);
  decideKind(stateOf({ steps: [turn, callStep(3, "read")], tools }), "finish");
});

Deno.test("decide() returns an error for complete_task next to create_subtask or request_human_review", () => {
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

Deno.test("decide() uses the first of two complete_task calls", () => {
  const steps = [
    modelDone(1, [call("complete_task", { output: 1 }), call("complete_task", { output: 2 })]),
  ];

  assert.equal(onlyCall(stateOf({ steps }), "settled").intent.seq, 3);

  const ended = [...steps, systemStep(3, "complete_task", { state: "failed" })];
  assert.equal(decideKind(stateOf({ steps: ended }), "finish").output, 1);
});

Deno.test("decide() ends a task with a recorded complete_task after its worker died", () => {
  const state = stateOf({
    steps: [modelDone(1, [call("complete_task", { output: "x" })]), systemStep(2, "complete_task")],
  });

  const { output, completion } = decideKind(state, "finish");

  assert.equal(output, "x");
  assert.equal(completion, null);
});

Deno.test("decide() does not end a task after a refused complete_task", () => {
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

Deno.test("decide() creates the subtasks of a turn together, before the turn's other calls", () => {
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

Deno.test("decide() waits for created subtasks after the task's other calls", () => {
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

Deno.test("decide() requests subtasks again after a crash, since a repeated request creates them once", () => {
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

Deno.test("decide() orders failed and completed children by call before the next model call", () => {
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

Deno.test("decide() asks a person after the turn's other calls, one question at a time", () => {
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

Deno.test("decide() repeats a started call if its tool is read-only or idempotent", () => {
  for (const flag of ["is_read_only", "is_idempotent"]) {
    const state = stateOf({ steps: started({ [flag]: true }), tools: [toolNamed("pay")] });

    assert.equal(onlyCall(state, "tool").intent.seq, 2, flag);
  }
});

Deno.test("decide() runs a call whose intent the current delivery wrote", () => {
  const state = stateOf({ steps: started(), tools: [toolNamed("pay")], untried: [2] });

  assert.deepEqual(onlyCall(state, "tool").arguments, { amount: 5 });
});

Deno.test("decide() asks a person before it repeats a started call of any other tool", () => {
  const state = stateOf({ steps: started(), tools: [toolNamed("pay")] });

  const { call: review } = decideKind(state, "review");

  assert.equal(review.seq, 2);
  assert.match(review.question, /outcome is unknown/);
});

Deno.test("decide() asks even if the tool only now claims to be idempotent, or no longer exists", () => {
  for (const tools of [[toolNamed("pay", { isIdempotent: true })], []]) {
    decideKind(stateOf({ steps: started(), tools }), "review");
  }
});

const answer = (approved: boolean | null, comments: string | null = null) => ({
  seq: 2,
  kind: "rerun" as const,
  approved,
  response: {},
  approved_arguments: approved === true ? {} : null,
  reasons: ["outcome_unknown"],
  comments,
  answered_at: "2026-11-21T10:00:00Z",
  is_spent: false,
});

Deno.test("decide() repeats the call after a person approved it", () => {
  const state = stateOf({
    steps: started(),
    tools: [toolNamed("pay")],
    reviews: [answer(true)],
  });

  assert.equal(onlyCall(state, "tool").intent.seq, 2);
});

Deno.test("decide() uses an approval for one run, then reports an unknown outcome to the agent", () => {
  const state = stateOf({
    steps: started(),
    tools: [toolNamed("pay")],
    reviews: [{ ...answer(true), is_spent: true }],
  });

  assert.equal(onlyCall(state, "settled").result.output.error_code, "TOOL_OUTCOME_UNKNOWN");
});

Deno.test("decide() reports an unknown outcome and the person's comment after a rejection", () => {
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

Deno.test("decide() runs the other calls of the turn before it asks a person about one", () => {
  const state = stateOf({
    steps: [
      modelDone(1, [call("pay"), call("read")]),
      ...started().slice(1),
    ],
    tools: [toolNamed("pay"), toolNamed("read")],
  });

  assert.equal(onlyCall(state, "tool").intent.seq, 3);
});

Deno.test("decide() fails a task whose agent has used its turns, and counts each message's turns anew", () => {
  const asked = [call("save_intermediate_data", { key: "a", value: 1 })];
  const steps = [modelDone(1, asked), systemStep(2, "save_intermediate_data")];
  const message = { kind: "user", seq: 3, state: "done", input: "Go on" } as const;

  const spent = decideKind(stateOf({ steps, maxTurns: 1 }), "fail");
  const within = decide(stateOf({ steps, maxTurns: 2 }));
  const continued = decide(stateOf({ steps: [...steps, message], maxTurns: 1 }));

  assert.equal(spent.error.code, "TURNS_EXCEEDED");
  assert.equal(within.kind, "call_model");
  assert.equal(continued.kind, "call_model");
});
