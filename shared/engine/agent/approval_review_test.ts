import assert from "node:assert/strict";
import type { ApprovalQuestion } from "../../gateway/tool_contracts/approval.ts";
import { call, callStep, modelDone, stateOf, type StateParts, toolNamed } from "./agent_states.ts";
import { decide } from "./decide.ts";
import type { Review } from "./task_context.ts";

const PAY = toolNamed("pay", { server: "bank", destination: "bank.example.com" });
const ASKED: ApprovalQuestion = {
  reasons: ["rule"],
  arguments: { amount: 500 },
  scopes: ["mcp:bank"],
};

function aboutToPay(parts: Partial<StateParts> = {}) {
  const steps = [modelDone(1, [call("pay", { amount: 500 })])];
  return stateOf({ steps, tools: [PAY], ...parts });
}

function answered(parts: Partial<Review> = {}): Review {
  return {
    seq: 2,
    kind: "call",
    approved: true,
    response: {},
    approved_arguments: parts.approved === false ? null : { amount: 500 },
    reasons: ["rule"],
    comments: null,
    answered_at: "2026-11-21T10:00:00Z",
    is_spent: false,
    ...parts,
  };
}

/** The only planned call of a decision to run calls. */
function plannedCall(parts: Partial<StateParts>) {
  const decision = decide(aboutToPay(parts));
  assert.ok(decision.kind === "run_calls", decision.kind);
  const [planned] = decision.calls;
  assert.ok(planned !== undefined);
  return planned;
}

Deno.test("a call that a person has to approve becomes a review with the arguments and the schema", () => {
  assert.equal(decide(aboutToPay()).kind, "run_calls");

  const decision = decide(aboutToPay({ asked: { 2: ASKED } }));

  assert.ok(decision.kind === "review");
  const { seq, reviewKind, question, options, context } = decision.call;
  assert.deepEqual([seq, reviewKind, options], [2, "call", null]);
  assert.match(question, /"pay" of bank\? A rule requires/);
  assert.deepEqual(context, {
    reasons: ["rule"],
    server: "bank",
    tool: "pay",
    destination: "bank.example.com",
    arguments: { amount: 500 },
    input_schema: { type: "object" },
    scopes: ["mcp:bank"],
    shown: null,
  });
});

Deno.test("the question about private data names the destination", () => {
  const decision = decide(aboutToPay({ asked: { 2: { ...ASKED, reasons: ["data_flow"] } } }));

  assert.ok(decision.kind === "review");
  assert.match(
    decision.call.question,
    /sends data to bank\.example\.com\? The job has read private/,
  );
});

Deno.test("an approved call runs with the approved arguments, and the model learns of a change", () => {
  const asAsked = plannedCall({ reviews: [answered()] });
  const edited = plannedCall({
    reviews: [answered({ approved_arguments: { amount: 5 }, comments: "Not more" })],
  });

  assert.ok(asAsked.kind === "tool" && edited.kind === "tool");
  assert.deepEqual([asAsked.arguments, asAsked.notice], [{ amount: 500 }, null]);
  assert.deepEqual(edited.arguments, { amount: 5 });
  assert.match(edited.notice ?? "", /\{"amount":5\}, and says: Not more/);
});

Deno.test("a rejected call is a result with the person's comment, and does not run", () => {
  const planned = plannedCall({
    reviews: [answered({ approved: false, comments: "only to our own customers" })],
    asked: { 2: ASKED },
  });

  assert.ok(planned.kind === "settled");
  assert.equal(planned.result.output.error_code, "APPROVAL_REJECTED");
  assert.match(String(planned.result.output.text), /only to our own customers/);
});

Deno.test("an approval covers one run of a call that may not be repeated", () => {
  const started = callStep(2, "pay", { state: "started" });
  const steps = [modelDone(1, [call("pay", { amount: 500 })]), started];

  const first = plannedCall({ steps, reviews: [answered()] });
  const second = plannedCall({ steps, reviews: [answered({ is_spent: true })] });

  assert.ok(first.kind === "tool" && first.isRerun);
  assert.ok(second.kind === "settled");
  assert.equal(second.result.output.error_code, "TOOL_OUTCOME_UNKNOWN");
});

Deno.test("a call carries the data flows of what could have shaped it", () => {
  const read = (seq: number, flow: string) =>
    callStep(seq, "read", { input: { server: "files", arguments: {}, data_flows: [flow] } });
  const steps = [
    modelDone(1, [call("read", {})]),
    read(2, "reads_private"),
    modelDone(3, [call("read", {}), call("pay", {})]),
    // Read in the same turn, so it cannot have shaped the payment.
    read(4, "reads_outside"),
  ];
  const flowsOf = (jobFlows: string[]) => {
    const state = stateOf({ steps, tools: [PAY] });
    const decision = decide({ ...state, context: { ...state.context, job_data_flows: jobFlows } });
    assert.ok(decision.kind === "run_calls");
    const planned = decision.calls.find((planned) => planned.kind === "tool");
    return [...planned?.readFlows ?? []].sort();
  };

  assert.deepEqual(flowsOf([]), ["reads_private"]);
  assert.deepEqual(flowsOf(["reads_outside"]), ["reads_outside", "reads_private"]);
});
