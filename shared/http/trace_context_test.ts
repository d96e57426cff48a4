import assert from "node:assert/strict";
import { traceparentOf } from "./trace_context.ts";

const VALID = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

function request(traceparent: string): Request {
  return new Request("http://localhost/", { headers: { traceparent } });
}

Deno.test("traceparentOf() returns a well-formed header", () => {
  assert.equal(traceparentOf(request(VALID)), VALID);
});

Deno.test("traceparentOf() ignores a missing, malformed or all-zero one", () => {
  assert.equal(traceparentOf(new Request("http://localhost/")), null);
  for (
    const bad of [
      "x",
      VALID.toUpperCase(),
      VALID.replace("00-", "ff-"),
      VALID.replace(/-b7ad6b7169203331-/, "-0000000000000000-"),
      `${VALID}-extra`,
    ]
  ) {
    assert.equal(traceparentOf(request(bad)), null, bad);
  }
});
