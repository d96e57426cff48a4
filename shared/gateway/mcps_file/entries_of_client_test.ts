import assert from "node:assert/strict";
import { entriesOfClient } from "./entries_of_client.ts";
import { readMcps } from "./read_mcps.ts";

Deno.test("entriesOfClient() moves secrets out of the entries", () => {
  const found = entriesOfClient({
    mcpServers: {
      "My Notes": {
        url: "https://notes.example.com/mcp",
        headers: { Authorization: "Bearer canary", "X-Region": "eu", "X-Org-Token": "${env:ORG}" },
      },
    },
  });

  assert.deepEqual(found?.values, { MY_NOTES_AUTHORIZATION: "canary" });
  assert.deepEqual(found?.mcps["my-notes"], {
    name: "My Notes",
    url: "https://notes.example.com/mcp",
    enabled: true,
    auth: { in: "header", name: "Authorization", prefix: "Bearer " },
    credentials: { token_env: "MY_NOTES_AUTHORIZATION", x_org_token_env: "ORG" },
    headers: { "X-Region": "eu", "X-Org-Token": "{{x_org_token_env}}" },
  });
  assert.equal(readMcps({ mcps: found?.mcps }).kind, "read", "the entries are valid");
});

Deno.test("entriesOfClient() skips commands and reads the other forms of the settings", () => {
  const found = entriesOfClient({
    mcp: {
      servers: {
        local: { command: "npx", args: ["-y", "notes"] },
        remote: { type: "http", url: "https://remote.example.com/mcp", disabled: true },
      },
    },
  });

  assert.deepEqual(found?.skipped.map(({ slug }) => slug), ["local"]);
  assert.equal(found?.mcps.remote?.enabled, false);
});

Deno.test("entriesOfClient() is null for anything else", () => {
  assert.equal(entriesOfClient({ mcps: {} }), null);
  assert.equal(entriesOfClient(["mcpServers"]), null);
});
