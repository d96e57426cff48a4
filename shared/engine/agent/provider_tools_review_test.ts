import assert from "node:assert/strict";
import { callStep, modelDone, stateOf, type StateParts } from "./agent_states.ts";
import { decide } from "./decide.ts";
import type { ModelStep, Review } from "./task_context.ts";

const SEARCH = { providerTools: ["web_search"] as const };
const read = (seq: number, flow: string) =>
  callStep(seq, "read", { input: { server: "files", arguments: {}, data_flows: [flow] } });
const READ_BOTH = [
  modelDone(1, [
    { call_id: "call_read", name: "read", arguments: {} },
    { call_id: "call_read", name: "read", arguments: {} },
  ]),
  read(2, "reads_private"),
  read(3, "reads_outside"),
];

function answered(parts: Partial<Review>): Review {
  return {
    seq: 1,
    kind: "provider_tools",
    approved: true,
    response: {},
    approved_arguments: null,
    reasons: ["rule"],
    comments: null,
    answered_at: "2026-11-21T10:00:00Z",
    is_spent: false,
    ...parts,
  };
}

/** The provider's tools of the next model call, or the question that is asked before it. */
function next(parts: StateParts): unknown {
  const decision = decide(stateOf(parts));
  if (decision.kind === "review") {
    assert.equal(decision.call.intent, null);
    return decision.call.context;
  }
  assert.ok(decision.kind === "call_model", decision.kind);
  return decision.providerTools;
}

Deno.test("a model call has its provider's tools without a question, unless a rule asks", () => {
  assert.deepEqual(next(SEARCH), ["web_search"]);
  assert.deepEqual(next({ ...SEARCH, providerRules: { web_search: ["never"] } }), ["web_search"]);
  assert.deepEqual(next({ ...SEARCH, providerRules: { web_search: ["never", "always"] } }), {
    reasons: ["rule"],
    tools: ["web_search"],
  });
});

Deno.test("an answer holds for the rest of the task: an approval gives the tools, a rejection withholds them", () => {
  const parts = {
    providerTools: ["web_search", "code_execution"] as const,
    providerRules: { web_search: ["always" as const] },
  };

  assert.deepEqual(next({ ...parts, reviews: [answered({})] }), ["web_search", "code_execution"]);
  assert.deepEqual(next({ ...parts, reviews: [answered({ approved: false })] }), [
    "code_execution",
  ]);
});

Deno.test("a search that could send private data away asks, also after an approval by rule", () => {
  const asked = { reasons: ["data_flow"], tools: ["web_search"] };
  const rules = { web_search: ["always" as const] };

  assert.deepEqual(next({ ...SEARCH, steps: READ_BOTH }), asked);
  assert.deepEqual(
    next({ ...SEARCH, steps: READ_BOTH.slice(0, 2).concat(read(3, "reads_private")) }),
    [
      "web_search",
    ],
  );
  assert.deepEqual(
    next({ ...SEARCH, providerRules: rules, steps: READ_BOTH, reviews: [answered({})] }),
    asked,
  );
  assert.deepEqual(
    next({ ...SEARCH, providerRules: rules, steps: READ_BOTH, reviews: [answered({ seq: 4 })] }),
    [],
    "one question before one call",
  );
  assert.deepEqual(
    next({ ...SEARCH, steps: READ_BOTH, providerRules: { web_search: ["never"] } }),
    ["web_search"],
  );
  assert.deepEqual(
    next({ ...SEARCH, steps: READ_BOTH, reviews: [answered({ reasons: ["data_flow"] })] }),
    ["web_search"],
  );
});

Deno.test("text that a search has found counts as text from outside", () => {
  const first = modelDone(1, [{ call_id: "call_read", name: "read", arguments: {} }]);
  const searched: ModelStep = {
    ...first,
    output: first.output && {
      ...first.output,
      provider_tool_calls: [{ name: "web_search", input: "news", output: "text" }],
    },
  };

  assert.deepEqual(next({ ...SEARCH, steps: [searched, read(2, "reads_private")] }), {
    reasons: ["data_flow"],
    tools: ["web_search"],
  });
});
