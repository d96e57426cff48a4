import assert from "node:assert/strict";
import { fuseRanks } from "./fuse_ranks.ts";

const byWords = [2, 0, 1, 3].map((index, place) => ({ index, score: [3, 2, 0, 0][place] ?? 0 }));
const orderOf = (byMeaning: readonly number[]) =>
  fuseRanks(byWords, byMeaning).map(({ index }) => index);

Deno.test("without meaning the order by words stays", () => {
  assert.deepEqual(orderOf([]).slice(0, 2), [2, 0]);
});

Deno.test("a table that only meaning finds comes before those that nothing finds", () => {
  assert.deepEqual(orderOf([3]), [2, 0, 3, 1]);
});

Deno.test("of two tables that words find, the one that meaning finds too comes first", () => {
  assert.equal(orderOf([0])[0], 0);
});
