import assert from "node:assert/strict";
import { ArgumentTextDecoder } from "./answer_deltas.ts";

/** The output for JSON that arrives in pieces of `size` characters. */
function decode(json: string, size: number, argument = "output"): string[] {
  const decoder = new ArgumentTextDecoder(argument);
  const pieces = json.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];
  return pieces.map((piece) => decoder.push(piece));
}

const TEXTS = [
  "plain",
  'quotes " and \\ backslashes / and \b\f\n\r\t',
  "Ünïcode 🐝 👩‍👩‍👧",
  '{"output":"not this"}',
  "",
];

Deno.test("the decoder returns the complete text of the argument, however the JSON is split", () => {
  for (const text of TEXTS) {
    const json = JSON.stringify({ note: { output: "inner" }, output: text, after: [text] });
    const ascii = json.replace(
      /[^\x20-\x7e]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );
    for (const written of [json, ascii, JSON.stringify(JSON.parse(json), null, 2)]) {
      for (const size of [1, 2, 3, 7, written.length]) {
        const pieces = decode(written, size);

        assert.equal(pieces.join(""), text);
        assert.ok(pieces.every((piece) => piece.isWellFormed()));
      }
    }
  }
});

Deno.test("the decoder returns text before the call is complete", () => {
  assert.deepEqual(decode('{"output":"Hel', 100), ["Hel"]);
});

Deno.test("the decoder returns nothing for an argument that is not text", () => {
  for (const output of [{ text: "inner", output: "inner" }, ["a"], 12, null, true]) {
    assert.equal(decode(JSON.stringify({ output, other: "text" }), 3).join(""), "");
  }
});

Deno.test("the decoder returns nothing for another argument or a nested key", () => {
  assert.equal(decode('{"outputs":"a","in":{"output":"b"},"x":["output","c"]}', 2).join(""), "");
});

Deno.test("the decoder accepts a key with escapes", () => {
  assert.equal(decode('{"\\u006futput":"x"}', 1).join(""), "x");
});

Deno.test("the decoder never throws on malformed JSON", () => {
  for (const json of ['{"output":"\\uZZZZ"}', "]]}}", '{"output":"\\ud800x"}', '"output":"x"']) {
    assert.ok(decode(json, 1).every((piece) => piece.isWellFormed()));
  }
});
