import assert from "node:assert/strict";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import type { ServerSummary } from "../tool_contracts/server_tools.ts";
import { unknownServer } from "../tool_contracts/unknown_server.ts";
import { nameNearestServers } from "./name_nearest_servers.ts";

const NOTES: ServerSummary = {
  slug: "notes",
  name: "Notes",
  description: null,
  type: "mcp_server",
  connectionId: null,
  status: "healthy",
  retryAt: null,
  failureCount: 0,
  lastSuccessAt: null,
  listedAt: null,
  toolCount: 1,
  external: null,
};

async function hintOf(error: SwarmError, server: string): Promise<string | undefined> {
  const named = await nameNearestServers(error, {
    server,
    gateway: { listServers: () => Promise.resolve([NOTES]) },
    caller: {
      userId: null,
      agentId: null,
      taskId: null,
      clientId: null,
      sessionId: null,
      clientName: null,
      isService: true,
    },
  });
  return named.hint;
}

Deno.test("nameNearestServers() names similar servers only if the server does not exist", async () => {
  const missingTool = new SwarmError(
    "TOOL_NOT_FOUND",
    "The tool server 'note' has no tool 'search'",
    { hint: "It has: find." },
  );

  assert.equal(await hintOf(unknownServer("note"), "note"), "Your servers: notes.");
  assert.equal(await hintOf(missingTool, "note"), "It has: find.");
});
