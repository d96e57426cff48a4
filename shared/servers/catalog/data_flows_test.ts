import assert from "node:assert/strict";
import { dataFlowsOf } from "../../gateway/tool_contracts/data_flows_of.ts";
import { catalogServer } from "./server.ts";

Deno.test("a user's conversations count as private and as text from outside, rulesets as private", () => {
  const flowing = catalogServer.tools.flatMap(({ definition }) => {
    const flows = dataFlowsOf({ server: "catalog", type: "internal", definition, stated: null });
    return flows.length === 0 ? [] : [[definition.name, flows] as const];
  });

  assert.deepEqual(Object.fromEntries(flowing), {
    export_conversation: ["reads_private", "reads_outside"],
    get_ruleset: ["reads_private"],
    list_messages: ["reads_private", "reads_outside"],
  });
});
