import assert from "node:assert/strict";
import { missingScopes, scopesOf } from "./tool_scopes.ts";

Deno.test("admin:* includes every scope, and no other scope includes another", () => {
  assert.deepEqual(missingScopes(["mcp:notes", "sql:write"], ["admin:*"]), []);
  assert.deepEqual(missingScopes(["mcp:notes"], ["mcp:note", "mcp:*", "*"]), ["mcp:notes"]);
  assert.deepEqual(missingScopes(["mcp:notes"], null), []);
  assert.deepEqual(missingScopes(["sql:read"], []), ["sql:read"]);
});

Deno.test("a tool outside the product requires the scope of its server", () => {
  assert.deepEqual(scopesOf({ slug: "notes", type: "http_api" }, ["sql:read"]), ["mcp:notes"]);
  assert.deepEqual(scopesOf({ slug: "quoth", type: "internal" }, ["quoth:read"]), ["quoth:read"]);
});
