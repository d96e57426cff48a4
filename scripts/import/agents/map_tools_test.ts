import assert from "node:assert/strict";
import { mapTools } from "./map_tools.ts";

Deno.test("mapTools() leaves out a tool whose name every object has as a member", () => {
  const mapping = { provider: "anthropic", servers: new Set(["crm"]), own: { Jira: "crm" } };

  const mapped = mapTools(["Jira", "constructor", "toString"], [], mapping);

  assert.deepEqual(mapped.tools, ["crm"]);
  assert.deepEqual(mapped.leftOut, ["constructor", "toString"]);
});
