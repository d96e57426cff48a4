import assert from "node:assert/strict";
import { cpuUsage } from "node:process";
import type { JsonObject } from "../json.ts";
import { findArgumentProblems } from "../tools/learning/argument_problems.ts";
import { fitsSchema } from "./fits_schema.ts";
import { patternCost } from "./pattern_cost.ts";
import { withoutCostlyPatterns } from "./without_costly_patterns.ts";

const EVIL = "^(a+)+$";
const EVIL_TEXT = `${"a".repeat(40)}!`;

function withText(text: JsonObject): JsonObject {
  return { type: "object", properties: { text } };
}

Deno.test("patternCost() recognizes simple patterns", () => {
  const costs = {
    "^[0-9a-f]{8}-[0-9a-f]{4}$": { degree: 0, factor: 1 },
    "^[^@]+@[^@]+\\.[a-z]{2,}$": { degree: 3, factor: 1 },
    "[a-z]+": { degree: 2, factor: 1 },
    "^(GET|PUT|POST)$": { degree: 0, factor: 3 },
    "^https?://(?:[\\])]*)$": { degree: 1, factor: 2 },
    "^(?:ab)*$": { degree: 1, factor: 1 },
    [EVIL]: null,
    "^(a|a)*$": null,
    "^(?:a?){30}$": null,
    "^((a)|b)+$": null,
    "^(a)\\1*$": null,
    "^(?<x>a)\\k<x>$": null,
  };
  for (const [pattern, cost] of Object.entries(costs)) {
    assert.deepEqual(patternCost(pattern), cost, pattern);
  }
});

Deno.test("a pattern that takes exponential time is left to the server", () => {
  const patterns = [EVIL, "^(a|a)*$", "a*a*a*a*a*a*$", "^a?".padEnd(80, "a?") + "a{40}$"];
  const before = cpuUsage();
  for (const pattern of patterns) {
    const text = pattern.startsWith("a*") ? "a".repeat(5_000) : EVIL_TEXT;
    assert.deepEqual(findArgumentProblems(withText({ pattern }), { text }), [], pattern);
    assert.ok(fitsSchema({ text }, withText({ pattern })), pattern);
  }
  const many = Array.from({ length: 2_000 }, () => "a".repeat(2_000));
  const items = { type: "object", properties: { many: { items: { pattern: "a+b" } } } };
  assert.deepEqual(findArgumentProblems(items, { many }), []);

  assert.ok(cpuUsage(before).user < 2_000_000, "more than two seconds of CPU time");
});

Deno.test("simple patterns and everything else in the schema are still checked", () => {
  const simple = withText({ pattern: "^[a-z]+$" });
  const both = withText({ pattern: EVIL, minLength: 50 });

  assert.equal(withoutCostlyPatterns(simple, { text: EVIL_TEXT }), simple);
  assert.equal(findArgumentProblems(simple, { text: EVIL_TEXT }).length, 1);
  assert.equal(findArgumentProblems(both, { text: EVIL_TEXT }).length, 1);
});

Deno.test("skipping a pattern refuses no value", () => {
  const schemas: JsonObject[] = [
    { not: { pattern: EVIL } },
    { oneOf: [{ pattern: EVIL }, { minLength: 1 }] },
    { if: { pattern: EVIL }, then: false },
    { $defs: { evil: { pattern: EVIL } }, not: { $ref: "#/$defs/evil" } },
  ];
  for (const schema of schemas) {
    assert.ok(fitsSchema(EVIL_TEXT, schema), JSON.stringify(schema));
  }
  const named = { patternProperties: { [EVIL]: {} }, additionalProperties: false };
  assert.ok(fitsSchema({ aaa: 1, [EVIL_TEXT]: 1 }, named));
  const property = {
    properties: { not: { const: { pattern: EVIL } }, pattern: { type: "string" } },
  };
  assert.ok(fitsSchema({ not: { pattern: EVIL }, pattern: "x" }, property));
  assert.ok(!fitsSchema({ not: { pattern: "x" }, pattern: EVIL_TEXT }, property));
});
