import assert from "node:assert/strict";
import { dataFlowsOf } from "./data_flows_of.ts";

function flows(type: string, annotations = {}, server = "s") {
  return dataFlowsOf({ server, type, definition: { name: "t", annotations }, stated: null });
}

Deno.test("dataFlowsOf() depends on the kind of a tool", () => {
  assert.deepEqual(flows("supabase_rpc"), ["reads_private"]);
  assert.deepEqual(flows("internal", {}, "quoth"), ["reads_private"]);
  assert.deepEqual(flows("internal", {}, "swarm"), []);
  assert.deepEqual(flows("mcp_server"), ["reads_outside", "sends_outside"]);
  assert.deepEqual(flows("mcp_server", { readOnlyHint: true }), ["reads_outside"]);
  assert.deepEqual(flows("http_api", { readOnlyHint: true }), ["reads_outside"]);
});

Deno.test("dataFlowsOf() treats a reader that calls others as a sender", () => {
  const annotations = { readOnlyHint: true, openWorldHint: true };

  assert.deepEqual(flows("mcp_server", annotations), ["reads_outside", "sends_outside"]);
});

Deno.test("dataFlowsOf() lets the operator's setting for a tool, or for its server, take precedence", () => {
  const tool = { server: "s", type: "mcp_server" };
  const stated = { "*": ["reads_private"], post: ["sends_outside", "made_up"] };

  assert.deepEqual(dataFlowsOf({ ...tool, definition: { name: "post" }, stated }), [
    "sends_outside",
  ]);
  assert.deepEqual(dataFlowsOf({ ...tool, definition: { name: "get" }, stated }), [
    "reads_private",
  ]);
});

Deno.test("dataFlowsOf() does not read a property that every object inherits as the operator's setting", () => {
  const stated = { "*": ["reads_private"], send: ["sends_outside"] };
  for (const name of ["constructor", "toString", "__proto__", "hasOwnProperty"]) {
    const tool = { server: "s", type: "mcp_server", definition: { name } };

    assert.deepEqual(dataFlowsOf({ ...tool, stated }), ["reads_private"], name);
    assert.deepEqual(dataFlowsOf({ ...tool, stated: { send: ["sends_outside"] } }), [
      "reads_outside",
      "sends_outside",
    ], name);
  }
});
