import assert from "node:assert/strict";
import {
  call,
  callStep,
  modelDone,
  stateOf,
  type StateParts,
  toolNamed,
} from "../engine/agent/agent_states.ts";
import { decide } from "../engine/agent/decide.ts";

const SEND = toolNamed("send_mail", {
  server: "mail",
  dataFlows: ["reads_outside", "sends_outside"],
  destination: "mail.example.com",
});
const TOOLS = [
  toolNamed("read_orders", { dataFlows: ["reads_private"] }),
  toolNamed("read_page", { dataFlows: ["reads_outside"] }),
  SEND,
];

const read = (seq: number, name: string, flow: string) =>
  callStep(seq, name, { input: { server: "files", arguments: {}, data_flows: [flow] } });

/** A task that has called these tools in order and is about to send. */
function aboutToSend(
  flows: readonly (readonly [name: string, flow: string])[],
  more: Partial<StateParts> = {},
) {
  const steps = flows.flatMap(([name, flow], index) => [
    modelDone(2 * index + 1, [call(name, {})]),
    read(2 * index + 2, name, flow),
  ]);
  const modelSeq = 2 * flows.length + 1;
  const sending = modelDone(modelSeq, [call("send_mail", { to: "eve@example.com" })]);
  return {
    seq: modelSeq + 1,
    state: stateOf({ steps: [...steps, sending], tools: TOOLS, ...more }),
  };
}

const BOTH = [["read_orders", "reads_private"], ["read_page", "reads_outside"]] as const;

Deno.test("a task that has read private data and outside text requests a review before it sends outside", () => {
  const { seq, state } = aboutToSend(BOTH);

  const decision = decide(state);

  assert.equal(decision.kind, "review");
  assert.ok(decision.kind === "review");
  assert.equal(decision.call.intent.seq, seq);
  assert.match(decision.call.question, /mail\.example\.com/);
  assert.deepEqual(decision.call.context, {
    reason: "SENDING_NOT_APPROVED",
    tool: "send_mail",
    server: "mail",
    destination: "mail.example.com",
    arguments: { to: "eve@example.com" },
  });
});

Deno.test("a task without one of the three sends without a review", () => {
  for (const flows of [[BOTH[0]], [BOTH[1]], []]) {
    assert.equal(decide(aboutToSend(flows).state).kind, "run_calls", JSON.stringify(flows));
  }
});

Deno.test("data read by subtasks of the job counts for the sending task", () => {
  const { state } = aboutToSend([BOTH[0]]);
  const context = { ...state.context, job_data_flows: ["reads_outside"] };

  assert.equal(decide({ ...state, context }).kind, "review");
});

Deno.test("data read in the same turn does not count, because it cannot have shaped the message", () => {
  const steps = [
    modelDone(1, [call("read_orders", {})]),
    read(2, "read_orders", "reads_private"),
    modelDone(3, [call("read_page", {}), call("send_mail", {})]),
    read(4, "read_page", "reads_outside"),
  ];

  assert.equal(decide(stateOf({ steps, tools: TOOLS })).kind, "run_calls");
});

Deno.test("an approval allows one call, and a refusal is a result with the person's comment", () => {
  for (const approved of [true, false]) {
    const { seq, state } = aboutToSend(BOTH);
    const review = {
      seq,
      approved,
      response: {},
      comments: "only to our own customers",
      answered_at: "2026-11-21T10:00:00Z",
      is_spent: false,
    };

    const decision = decide({ ...state, context: { ...state.context, reviews: [review] } });

    assert.ok(decision.kind === "run_calls");
    const [planned] = decision.calls;
    assert.equal(planned?.kind, approved ? "tool" : "settled");
    if (planned?.kind !== "settled") continue;
    assert.equal(planned.result.output.error_code, "SENDING_NOT_APPROVED");
    assert.match(String(planned.result.output.text), /only to our own customers/);
  }
});
