import assert from "node:assert/strict";
import { addDistinct, parseVariants } from "./draft_variations.ts";

Deno.test("parseVariants() reads JSON, fenced or not, and lists", () => {
  for (
    const answer of [
      '{"variants": ["One", "Two"]}',
      '["One", "Two"]',
      '```json\n{"variants": ["One", "Two"]}\n```',
      "Here they are:\n1. One\n2) Two",
      "- One\n- Two",
    ]
  ) assert.deepEqual(parseVariants(answer), ["One", "Two"], answer);
  for (const answer of ["I cannot do that.", '{"variants": "One"}', '{"other": []}', "5", ""]) {
    assert.deepEqual(parseVariants(answer), [], answer);
  }
});

Deno.test("addDistinct() keeps variants with different words, up to the limit", () => {
  assert.deepEqual(
    addDistinct(["Hello there!"], ["hello  there", " ", "Hi there.", "Good day", "Hey"], 3),
    ["Hello there!", "Hi there.", "Good day"],
  );
});
