import assert from "node:assert/strict";
import { VerifiedTokens } from "./verified_tokens.ts";

const NOW_MS = 1_800_000_000_000;
const NOW_SECONDS = NOW_MS / 1_000;

Deno.test("a verified token stays cached until it expires", () => {
  const tokens = new VerifiedTokens<string>();
  tokens.add("Bearer a", "ada", NOW_SECONDS + 60, NOW_MS);

  assert.equal(tokens.find("Bearer a", NOW_MS + 59_999), "ada");
  assert.equal(tokens.find("Bearer a", NOW_MS + 60_000), null);
  assert.equal(tokens.find("Bearer b", NOW_MS), null);
});

Deno.test("a verified token is verified again after five minutes, or if it never expires", () => {
  const tokens = new VerifiedTokens<string>();
  tokens.add("Bearer a", "ada", NOW_SECONDS + 86_400, NOW_MS);
  tokens.add("Bearer b", "bob", undefined, NOW_MS);

  assert.equal(tokens.find("Bearer a", NOW_MS + 299_999), "ada");
  assert.equal(tokens.find("Bearer a", NOW_MS + 300_000), null);
  assert.equal(tokens.find("Bearer b", NOW_MS), null);
});

Deno.test("the cache keeps the last thousand tokens", () => {
  const tokens = new VerifiedTokens<number>();
  for (let n = 0; n <= 1_000; n++) tokens.add(`Bearer ${n}`, n, NOW_SECONDS + 60, NOW_MS);

  assert.equal(tokens.find("Bearer 0", NOW_MS), null);
  assert.equal(tokens.find("Bearer 1", NOW_MS), 1);
  assert.equal(tokens.find("Bearer 1000", NOW_MS), 1_000);
});
