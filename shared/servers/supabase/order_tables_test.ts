import assert from "node:assert/strict";
import { fuseRanks } from "./order_tables.ts";

const byWords = [2, 0, 1, 3].map((index, place) => ({ index, score: [3, 2, 0, 0][place] ?? 0 }));
const orderOf = (byMeaning: readonly number[]) =>
  fuseRanks(byWords, byMeaning).map(({ index }) => index);

Deno.test("without vector ranks the full-text order is kept", () => {
  assert.deepEqual(orderOf([]).slice(0, 2), [2, 0]);
});

Deno.test("a table found only by vectors comes before tables that nothing finds", () => {
  assert.deepEqual(orderOf([3]), [2, 0, 3, 1]);
});

Deno.test("of two tables found by full text, the one that vectors find too comes first", () => {
  assert.equal(orderOf([0])[0], 0);
});
