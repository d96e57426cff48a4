import assert from "node:assert/strict";
import { toTraceHeaders, traceparentOf, tracestateOf } from "./trace_context.ts";

const VALID = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

function request(traceparent: string): Request {
  return new Request("http://localhost/", { headers: { traceparent } });
}

Deno.test("traceparentOf() returns a well-formed header", () => {
  assert.equal(traceparentOf(request(VALID)), VALID);
});

Deno.test("traceparentOf() ignores a missing, malformed or all-zero header", () => {
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

function stated(tracestate: string, traceparent: string = VALID): Request {
  return new Request("http://localhost/", { headers: { traceparent, tracestate } });
}

Deno.test("tracestateOf() returns a well-formed list without its spaces", () => {
  assert.equal(tracestateOf(stated("a=1, t1@b=x y ,,")), "a=1,t1@b=x y");
});

Deno.test("tracestateOf() ignores a malformed list, and any list without a traceparent", () => {
  for (const bad of ["", "a", "A=1", "a=1,=2", "a=b=c"]) {
    assert.equal(tracestateOf(stated(bad)), null, bad);
  }
  assert.equal(tracestateOf(stated("a=1", "nonsense")), null);
});

Deno.test("tracestateOf() drops the oldest members of a list that is too long", () => {
  const members = ["a", "b", "c"].map((key) => `${key}=${"x".repeat(200)}`);

  assert.equal(tracestateOf(stated(members.join(","))), members.slice(0, 2).join(","));
});

Deno.test("toTraceHeaders() returns both headers inside a trace and none outside", () => {
  assert.deepEqual(toTraceHeaders({ traceparent: VALID, tracestate: "a=1" }), {
    traceparent: VALID,
    tracestate: "a=1",
  });
  assert.deepEqual(toTraceHeaders({ traceparent: VALID }), { traceparent: VALID });
  assert.deepEqual(toTraceHeaders({ traceparent: null, tracestate: "a=1" }), {});
});
