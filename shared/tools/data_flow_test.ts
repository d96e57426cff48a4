import assert from "node:assert/strict";
import { dataFlowsOf } from "./data_flow.ts";
import type { ToolDefinition } from "./tool_definition.ts";

function flows(type: string, annotations: ToolDefinition["annotations"] = {}, server = "s") {
  const definition = { name: "t", inputSchema: { type: "object" }, annotations } as ToolDefinition;
  return dataFlowsOf({ server, type, definition, stated: null });
}

Deno.test("dataFlowsOf() goes by the kind of a tool", () => {
  assert.deepEqual(flows("supabase_rpc"), ["reads_private"]);
  assert.deepEqual(flows("internal", {}, "quoth"), ["reads_private"]);
  assert.deepEqual(flows("internal", {}, "swarm"), []);
  assert.deepEqual(flows("mcp_server"), ["reads_outside", "sends_outside"]);
  assert.deepEqual(flows("mcp_server", { readOnlyHint: true }), ["reads_outside"]);
  assert.deepEqual(flows("http_api", { readOnlyHint: true }), ["reads_outside"]);
});

Deno.test("dataFlowsOf() takes a reader that goes on to others for a sender", () => {
  const annotations = { readOnlyHint: true, openWorldHint: true };

  assert.deepEqual(flows("mcp_server", annotations), ["reads_outside", "sends_outside"]);
});

Deno.test("dataFlowsOf() lets the operator's word for a tool, or for its server, decide", () => {
  const tool = { server: "s", type: "mcp_server" };
  const named = (name: string) => ({ name, inputSchema: { type: "object" } }) as ToolDefinition;
  const stated = { "*": ["reads_private"], post: ["sends_outside", "made_up"] };

  assert.deepEqual(dataFlowsOf({ ...tool, definition: named("post"), stated }), ["sends_outside"]);
  assert.deepEqual(dataFlowsOf({ ...tool, definition: named("get"), stated }), ["reads_private"]);
});
