import assert from "node:assert/strict";
import type { JsonObject } from "../../platform/values/json.ts";
import type { DataFlow } from "../tool_contracts/data_flow.ts";
import type { ApprovalCondition, ApprovalRule } from "../tool_contracts/tool_records.ts";
import { approveCall, doesAsk } from "./approve_call.ts";
import type { AdmittedCall } from "./call_stages.ts";

type ArgumentCondition = Extract<ApprovalCondition, { readonly argument: string }>;

const asksAbout = (condition: ApprovalCondition, args: JsonObject, flows: DataFlow[] = []) =>
  doesAsk({ ask: "when", conditions: [condition] }, args, flows);

const CASES: readonly [
  condition: Pick<ArgumentCondition, "operator" | "value">,
  asks: readonly unknown[],
  asksNot: readonly unknown[],
  isMissingAsked: boolean,
][] = [
  [{ operator: "equals", value: "all" }, ["all"], ["All", 1, null, ["all"]], false],
  [{ operator: "not_equals", value: { a: 1 } }, [{ a: 2 }, "x"], [{ a: 1 }], true],
  [{ operator: "above", value: 100 }, [100.5, "1000", null], [100, -1], true],
  [{ operator: "at_least", value: 100 }, [100, "x"], [99], true],
  [{ operator: "below", value: 0 }, [-1, {}], [0], true],
  [{ operator: "at_most", value: 0 }, [0, false], [1], true],
  [{ operator: "one_of", value: ["a", 1] }, ["a", 1], ["b", "1"], false],
  [{ operator: "none_of", value: ["a", 1] }, ["b", "1"], ["a", 1], true],
  [
    { operator: "contains", value: "Drop" },
    ["a DROP b", ["Drop"], ["a drop"]],
    ["x", ["y"], 1],
    false,
  ],
];

Deno.test("a condition on an argument holds for the values that its operator names", async (t) => {
  for (const [condition, asks, asksNot, isMissingAsked] of CASES) {
    await t.step(condition.operator, () => {
      const about = (args: unknown) =>
        asksAbout({ argument: "/a/b", ...condition }, args as JsonObject);
      for (const value of asks) assert.ok(about({ a: { b: value } }), JSON.stringify(value));
      for (const value of asksNot) assert.ok(!about({ a: { b: value } }), JSON.stringify(value));
      assert.equal(about({ a: {} }), isMissingAsked);
      assert.equal(about({ a: 1 }), isMissingAsked);
    });
  }
});

Deno.test("a path names members, items and every item of a list, and own members only", () => {
  const above = (argument: string) => ({ argument, operator: "above" as const, value: 10 });
  const is = (argument: string, value: string) => (
    { argument, operator: "equals" as const, value }
  );

  assert.ok(asksAbout(above("/items/*/amount"), { items: [{ amount: 1 }, { amount: 11 }] }));
  assert.ok(!asksAbout(above("/items/*/amount"), { items: [{ amount: 1 }, { amount: 2 }] }));
  assert.ok(!asksAbout(above("/items/0/amount"), { items: [{ amount: 1 }, { amount: 11 }] }));
  assert.ok(asksAbout(is("/a~1b/c~0d", "x"), { "a/b": { "c~d": "x" } }));
  assert.ok(!asksAbout({ ...is("/constructor", "x"), operator: "contains" }, {}));
});

Deno.test("a condition on a data flow holds when the job has called such a tool", () => {
  const condition = { data_flow: "reads_private" as const };

  assert.ok(asksAbout(condition, {}, ["reads_private"]));
  assert.ok(!asksAbout(condition, {}, ["reads_outside"]));
});

/** The result of a call with these rules, which sends data outside if `flows` says what was read. */
function approvalWith(
  rules: readonly Partial<ApprovalRule>[],
  { flows = [], approved = null }: { flows?: DataFlow[]; approved?: JsonObject | null } = {},
) {
  const call = {
    request: {
      arguments: { amount: 5 },
      caller: {},
      approval: { readFlows: flows, toolFlows: ["sends_outside"] },
    },
    ports: {},
    scopes: [],
    record: {
      approval: {
        rules: rules.map((rule) => ({ ask: "when", conditions: [], ...rule })),
        approved_arguments: approved,
      },
    },
  } as unknown as AdmittedCall;
  const staged = approveCall(call);
  if (staged.kind === "next") return staged.call.approval;
  const { result } = staged.call;
  assert.ok(result.kind === "error");
  return (result.error as { question: { reasons: unknown } }).question.reasons;
}

const BOTH: DataFlow[] = ["reads_private", "reads_outside"];
const OVER_3 = [{ argument: "/amount", operator: "above" as const, value: 3 }];
const OVER_9 = [{ argument: "/amount", operator: "above" as const, value: 9 }];

Deno.test("the stricter of two rules counts, and only never removes the question about private data", () => {
  assert.equal(approvalWith([]), "none");
  assert.deepEqual(approvalWith([], { flows: BOTH }), ["data_flow"]);
  assert.equal(approvalWith([], { flows: ["reads_private"] }), "none");

  assert.equal(approvalWith([{ ask: "never" }], { flows: BOTH }), "waived");
  assert.deepEqual(approvalWith([{ ask: "never" }, { ask: "always" }]), ["rule"]);
  assert.deepEqual(approvalWith([{ ask: "never" }, { conditions: OVER_3 }]), ["rule"]);

  assert.deepEqual(approvalWith([{ conditions: OVER_3 }], { flows: BOTH }), ["rule", "data_flow"]);
  assert.equal(approvalWith([{ conditions: OVER_9 }]), "waived");
  assert.deepEqual(approvalWith([{ conditions: OVER_9 }], { flows: BOTH }), ["data_flow"]);

  assert.equal(approvalWith([{ ask: "always" }], { approved: {}, flows: BOTH }), "given");
});
