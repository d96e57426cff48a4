import assert from "node:assert/strict";
import {
  call,
  callStep,
  modelDone,
  stateOf,
  type StateParts,
  systemStep,
  toolNamed,
} from "./agent_states.ts";
import { decide } from "./decide.ts";
import { offerTools, searchTools, TOOL_SEARCH_BYTES } from "./offer_tools.ts";
import type { Step } from "./task_context.ts";
import { isJsonObject } from "../../platform/values/json.ts";

const THINGS = ["order", "invoice", "ticket", "contract", "parcel", "employee", "refund", "meter"];
const VERBS = ["list", "read", "create", "cancel", "archive", "export", "print"];
/** 56 tools of about 1 KB: more than an agent is offered. */
const TOOLS = THINGS.flatMap((thing) =>
  VERBS.map((verb) =>
    toolNamed(`${verb}_${thing}`, {
      server: `${thing}s`,
      description: `Does ${verb} for one ${thing} of the shop. ${"It takes its time. ".repeat(45)}`,
    })
  )
);

function namesOf(parts: StateParts): readonly string[] {
  return offerTools(stateOf({ tools: TOOLS, input: "Hello", ...parts })).tools
    .map(({ name }) => name);
}

function promptTools(parts: StateParts): readonly string[] {
  const decision = decide(stateOf({ tools: TOOLS, input: "Hello", ...parts }));
  assert.equal(decision.kind, "call_model");
  return decision.kind === "call_model" ? decision.prompt.tools.map(({ name }) => name) : [];
}

/** The first model call of a task, with what it offered, and one call that it asked for. */
function firstTurn(offered: readonly string[], name: string): Step {
  return { ...modelDone(1, [call(name)]), input: { offered_tools: [...offered] } };
}

function searched(seq: number, tools: readonly string[]): Step {
  return systemStep(seq, "search_tools", { output: { text: "…", tools: [...tools] } });
}

Deno.test("a small toolset is offered whole, without a search", () => {
  const [tool] = TOOLS;
  assert.ok(tool);
  const tools = promptTools({ tools: [tool] });
  assert.ok(tools.includes("list_order"));
  assert.ok(!tools.includes("search_tools"));
});

Deno.test("a large toolset is offered by a search, in a prompt below the limit", () => {
  const tools = promptTools({});
  assert.ok(tools.includes("search_tools"));
  assert.ok(tools.includes("complete_task"));
  const { tools: offered, searched: servers } = offerTools(stateOf({ tools: TOOLS }));
  assert.ok(JSON.stringify(offered).length < TOOL_SEARCH_BYTES / 2);
  assert.deepEqual(servers, THINGS.map((thing) => `${thing}s`));
  assert.equal(promptTools({ toolSearchBytes: 1_000_000 }).includes("search_tools"), false);
});

Deno.test("an agent that has lost all its tools has nothing to search", () => {
  const steps = [firstTurn(["read_meter"], "read_meter"), callStep(2, "read_meter")];
  assert.ok(!promptTools({ tools: [], steps }).includes("search_tools"));
});

Deno.test("the first offer has the tools that worked most and those that match the input", () => {
  const tools = TOOLS.map((tool, place) => ({
    ...tool,
    successCount: place % 9 === 0 ? place : 0,
  }));
  const worked = tools.filter(({ successCount }) => successCount > 0).map(({ modelName }) =>
    modelName
  );
  const names = namesOf({ tools, input: "Please print the contract of Ada" });
  assert.deepEqual(names.slice(0, worked.length), worked, "in the order of the toolset");
  assert.ok(names.includes("print_contract"));
  assert.ok(names.length <= 12);
});

Deno.test("a search finds tools by what they do, and the next call offers them last", () => {
  const { output } = searchTools("cancel a refund", stateOf({ tools: TOOLS }).toolset);
  const found = isJsonObject(output) && Array.isArray(output.tools) ? output.tools.map(String) : [];
  assert.equal(found[0], "cancel_refund");

  const first = namesOf({ input: "Read the meter" });
  const steps = [firstTurn(first, "search_tools"), searched(2, found)];
  const names = namesOf({ input: "Read the meter", steps });
  assert.deepEqual(names, [...new Set([...first, ...found])]);
});

Deno.test("a search without a match says which servers there are", () => {
  const { state, output } = searchTools("zymurgy", stateOf({ tools: TOOLS }).toolset);
  assert.equal(state, "failed");
  assert.match(String(output.text), /invoices, tickets/);
});

Deno.test("a worker that takes over offers the same, whatever was learned meanwhile", () => {
  const steps = [firstTurn(["read_meter", "list_order"], "read_meter"), callStep(2, "read_meter")];
  const learned = TOOLS.map((tool) => ({ ...tool, successCount: 5 }));
  assert.deepEqual(namesOf({ steps }), ["read_meter", "list_order"]);
  assert.deepEqual(namesOf({ steps, tools: learned }), ["read_meter", "list_order"]);
  const first = offerTools(stateOf({ tools: TOOLS })).firstOffer;
  assert.ok(Array.isArray(first), "it is recorded with the first call");
  assert.equal(
    offerTools(stateOf({ tools: TOOLS, steps })).firstOffer,
    undefined,
    "and only there",
  );
});

Deno.test("a call of a tool that was not offered runs, and the tool is offered from then on", () => {
  const asked = [firstTurn(["read_meter"], "print_parcel")];
  const decision = decide(stateOf({ tools: TOOLS, steps: asked }));
  assert.equal(decision.kind, "run_calls");
  assert.equal(decision.kind === "run_calls" && decision.calls[0]?.kind, "tool");
  const input = { server: "parcels", model_name: "print_parcel", arguments: {} };
  const steps = [...asked, callStep(2, "print_parcel", { input })];
  assert.deepEqual(namesOf({ steps }), ["read_meter", "print_parcel"]);
});

Deno.test("of many found tools the newest stay offered", () => {
  const names = TOOLS.map(({ modelName }) => modelName);
  const searches = Array.from(
    { length: 10 },
    (_, n) => searched(n + 2, names.slice(n * 5, n * 5 + 5)),
  );
  const offered = namesOf({ steps: [firstTurn([], "search_tools"), ...searches] });
  assert.deepEqual(offered, names.slice(30, 50));
});

Deno.test("descriptions that a search returns are fenced, because servers wrote them", () => {
  const steps = [
    firstTurn([], "search_tools"),
    systemStep(2, "search_tools", {
      output: { text: "print_order: prints", tools: ["print_order"] },
    }),
  ];
  const decision = decide(stateOf({ tools: TOOLS, steps }));
  const last = decision.kind === "call_model" ? decision.prompt.messages.at(-1) : undefined;
  assert.match(last?.text ?? "", /^<untrusted_data source="tools">\nprint_order/);
});
