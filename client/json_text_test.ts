import assert from "node:assert/strict";
import { readableJson } from "./json_text.ts";

Deno.test("readableJson() writes a value in lines", () => {
  const value = { a: [1, { b: [] }], c: {} };

  assert.equal(readableJson(value), JSON.stringify(value, null, 2));
  assert.equal(readableJson("a"), '"a"');
  assert.equal(readableJson(undefined), "");
});

Deno.test("readableJson() writes what lines would more than double without them", () => {
  for (const levels of [8, 64, 190]) {
    const zeros = `[${Array(49_000).fill(0).join()}]`;
    const text = "[".repeat(levels) + zeros + "]".repeat(levels);

    assert.equal(readableJson(JSON.parse(text)), text);
  }
});

Deno.test("readableJson() counts the white space of lines exactly", () => {
  const list = (items: number) => Array.from({ length: items }, () => [[[[0, "a".repeat(30)]]]]);
  for (let items = 1; items < 400; items++) {
    const [value, compact] = [list(items), JSON.stringify(list(items))];
    const lines = JSON.stringify(value, null, 2);
    const most = compact.length + Math.max(1_000, compact.length);

    assert.equal(readableJson(value), lines.length <= most ? lines : compact, `${items} items`);
  }
});
