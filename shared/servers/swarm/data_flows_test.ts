import assert from "node:assert/strict";
import { dataFlowsOf } from "../../gateway/tool_contracts/data_flows_of.ts";
import { swarmServer } from "./server.ts";

Deno.test("the contents of other jobs count as private and as text from outside", () => {
  const flowing = swarmServer.tools.map(({ definition }) => ({
    name: definition.name,
    flows: dataFlowsOf({
      server: "swarm",
      type: "internal",
      definition,
      stated: null,
    }),
  }));

  const readers = flowing.filter(({ flows }) => flows.length > 0);
  assert.deepEqual(readers.map(({ name }) => name).sort(), [
    "get_task",
    "list_tasks",
    "read_data",
    "read_file",
    "read_prompt",
    "read_steps",
  ]);
  for (const { flows } of readers) assert.deepEqual(flows, ["reads_private", "reads_outside"]);
});
