import assert from "node:assert/strict";
import { missingScopes, scopesOf } from "./tool_scopes.ts";

Deno.test("admin:* covers every scope, and nothing else covers another's", () => {
  assert.deepEqual(missingScopes(["mcp:notes", "sql:write"], ["admin:*"]), []);
  assert.deepEqual(missingScopes(["mcp:notes"], ["mcp:note", "mcp:*", "*"]), ["mcp:notes"]);
  assert.deepEqual(missingScopes(["mcp:notes"], null), []);
  assert.deepEqual(missingScopes(["sql:read"], []), ["sql:read"]);
});

Deno.test("what is not part of the product needs the scope of its server", () => {
  assert.deepEqual(scopesOf({ slug: "notes", type: "http_api" }, ["sql:read"]), ["mcp:notes"]);
  assert.deepEqual(scopesOf({ slug: "quoth", type: "internal" }, ["quoth:read"]), ["quoth:read"]);
});
