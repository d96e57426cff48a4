import assert from "node:assert/strict";
import type { JsonValue } from "../values/json.ts";
import { isForThisEndpoint } from "./token_audience.ts";

const PROJECT = "https://us.supabase.co";

function isFor(audience: JsonValue, path = "/mcp/quoth"): boolean {
  const requestUrl = `http://localhost:8081${path}`;
  return isForThisEndpoint({ audience, requestUrl, projectUrl: PROJECT });
}

Deno.test("isForThisEndpoint() accepts tokens for the project or for the address of the request", () => {
  for (
    const audience of [
      "authenticated",
      ["authenticated", "https://elsewhere.example/mcp"],
      `${PROJECT}/functions/v1/mcp/quoth`,
      `${PROJECT}/functions/v1/mcp`,
      `${PROJECT}/`,
      null,
    ]
  ) {
    assert.ok(isFor(audience), JSON.stringify(audience));
    assert.ok(isFor(audience, "/functions/v1/mcp/quoth"), JSON.stringify(audience));
  }
});

Deno.test("isForThisEndpoint() refuses tokens for another resource", () => {
  for (
    const audience of [
      "https://elsewhere.example/functions/v1/mcp/quoth",
      `${PROJECT}.evil.example/functions/v1/mcp/quoth`,
      `${PROJECT}/functions/v1/mcp/swarm`,
      `${PROJECT}/functions/v1/mcp/quo`,
      "another-service",
      "",
      [],
      7,
      { resource: "authenticated" },
    ]
  ) {
    assert.ok(!isFor(audience), JSON.stringify(audience));
  }
});
