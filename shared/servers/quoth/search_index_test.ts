import assert from "node:assert/strict";
import { relevancesOf } from "./search_index.ts";

Deno.test("relevancesOf() returns similarities regardless of the order of the hits", () => {
  const hits = [{ similarity: 0.25, text_score: 1 }, { similarity: 0.831, text_score: 0 }];

  assert.deepEqual(relevancesOf(hits), ["25%", "83%"]);
});

Deno.test("relevancesOf() places no hit without a vector above the nearest one", () => {
  const hits = [
    { similarity: 0.25, text_score: 0.6 },
    { similarity: null, text_score: 1 },
    { similarity: null, text_score: 0.5 },
    { similarity: 0.4, text_score: 0 },
  ];

  assert.deepEqual(relevancesOf(hits), ["25%", "40%", "20%", "40%"]);
});

Deno.test("relevancesOf() uses only full-text scores if no hit has a vector", () => {
  const hits = [{ similarity: null, text_score: 1 }, { similarity: null, text_score: 0.3 }];

  assert.deepEqual(relevancesOf(hits), ["100%", "30%"]);
});

Deno.test("relevancesOf() stays between 0% and 100%", () => {
  const hits = [{ similarity: -0.2, text_score: 1 }, { similarity: null, text_score: 1 }];

  assert.deepEqual(relevancesOf(hits), ["0%", "0%"]);
  assert.deepEqual(relevancesOf([{ similarity: 1.0000001, text_score: 0 }]), ["100%"]);
});
