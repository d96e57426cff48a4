import { expect, test } from "vitest";
import fc from "fast-check";
import { jsonInText, laidOutJson } from "./json_in_text.ts";
import { readableJson } from "./json_text.ts";

test("JSON text is laid out as the same value would be written", () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.array(fc.jsonValue())),
      (value) => {
        const written = JSON.stringify(value);
        // -0 is written as 0.
        expect(laidOutJson(written)).toBe(readableJson(JSON.parse(written)));
      },
    ),
  );
});

test("laying out keeps every value as it was written, and repeated names", () => {
  const text = '{"id":1610521604143693812,"n":1.50,"n":1e3,"t":"a, {b}: \\"c\\" "}';
  expect(laidOutJson(text)).toBe(
    '{\n  "id": 1610521604143693812,\n  "n": 1.50,\n  "n": 1e3,\n  "t": "a, {b}: \\"c\\" "\n}',
  );
});

test("a parsed whole number that a double would round stays text", () => {
  expect(jsonInText("[1610521604143693812, 12, -0.5, 1e30]")).toEqual(
    ["1610521604143693812", 12, -0.5, 1e30],
  );
});

test("other text is not JSON", () => {
  for (
    const text of ["", "12", '"text"', "null", "{not json}", "[1, 2", "[see](https://a.example)"]
  ) {
    expect(laidOutJson(text), text).toBeNull();
  }
});

test("a long string in JSON does not exceed the stack", () => {
  const long = "x".repeat(2_000_000);
  expect(laidOutJson(JSON.stringify([long, `\n"${long}`]))?.length).toBeGreaterThan(4_000_000);
});

test("deep JSON is not multiplied by its levels", () => {
  const text = "[".repeat(64) + Array(10_000).fill("0").join() + "]".repeat(64);
  expect(laidOutJson(text)).toBe(text);
});
