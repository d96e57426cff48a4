import assert from "node:assert/strict";
import { isSampled, newTrace, parseTraceparent, spanIdOf, toTraceparent } from "./span_context.ts";

const VALID = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

Deno.test("parseTraceparent() and toTraceparent() are inverses", () => {
  const context = parseTraceparent(VALID, "a=1");

  assert.ok(context !== null);
  assert.equal(context.tracestate, "a=1");
  assert.equal(toTraceparent(context), VALID);
});

Deno.test("parseTraceparent() reads a later version like the known one, with the known flags", () => {
  const context = parseTraceparent(`cc${VALID.slice(2, -2)}ff`, null);

  assert.ok(context !== null);
  assert.equal(toTraceparent(context), `${VALID.slice(0, -2)}03`);
});

Deno.test("parseTraceparent() returns null for missing and malformed headers", () => {
  for (const text of [null, "", "00-1-2-01", `${VALID}x`]) {
    assert.equal(parseTraceparent(text, null), null);
  }
});

Deno.test("isSampled() depends only on the sampled flag", () => {
  const withFlags = (flags: number) => ({ ...newTrace(), flags });

  assert.deepEqual([0, 1, 2, 3].map((flags) => isSampled(withFlags(flags))), [
    false,
    true,
    false,
    true,
  ]);
});

Deno.test("newTrace() is sampled, well-formed and unique", () => {
  const [first, second] = [newTrace(), newTrace()];

  assert.match(toTraceparent(first), /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
  assert.notEqual(first.traceId, second.traceId);
});

Deno.test("spanIdOf() is equal for equal names and different otherwise", async () => {
  const names = [["run", "t", "1"], ["run", "t", "2"], ["step", "t", 1, "1"], [
    "step",
    "t",
    1,
    "2",
  ]];
  const ids = await Promise.all(names.map((name) => spanIdOf(...name)));

  assert.equal(new Set(ids).size, names.length);
  assert.equal(await spanIdOf("run", "t", "1"), ids[0]);
  // The first eight bytes of SHA-256 of "run:t:1", as printed by `sha256sum`.
  assert.equal(ids[0], "f485334659a09963");
});
