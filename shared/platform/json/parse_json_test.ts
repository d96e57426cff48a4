import assert from "node:assert/strict";
import type { JsonValue } from "../values/json.ts";
import type { JsonLimit, JsonLimits } from "./json_limits.ts";
import { MAX_NAME_BYTES } from "./json_limits.ts";
import { JsonMeter } from "./json_meter.ts";
import { describeExcess, measureJson, parseJson, parseJsonOrUndefined } from "./parse_json.ts";

const LIMITS: JsonLimits = { bytes: 100_000, depth: 10, members: 50, items: 50 };

function exceeded(text: string): JsonLimit | null {
  return measureJson(text, LIMITS)?.limit ?? null;
}

Deno.test("parseJson() refuses input above a limit before it parses it", () => {
  const worst: readonly (readonly [string, JsonLimit])[] = [
    ["[".repeat(11), "depth"],
    ['{"a":'.repeat(11), "depth"],
    [`[${"1,".repeat(50)}1]`, "items"],
    [`{${Array.from({ length: 51 }, (_, n) => `"k${n}":1`).join()}}`, "members"],
    [`{${'"a":1,'.repeat(50)}"a":1}`, "members"],
    [`{${'"__proto__":1,'.repeat(50)}"a":1}`, "members"],
    [`[${"{},".repeat(51)}{}]`, "items"],
    [`{"${"n".repeat(MAX_NAME_BYTES + 1)}":1}`, "name_bytes"],
    [`"${"a".repeat(100_000)}"`, "bytes"],
    [`"${"ü".repeat(60_000)}"`, "bytes"],
    [`[${"1e9999,".repeat(49)}"${"a".repeat(85_000)}"]`, "bytes"],
  ];
  for (const [text, limit] of worst) {
    assert.equal(exceeded(text), limit, text.slice(0, 40));
    assert.equal(exceeded(`  \n${text}`), limit);
    const parsed = parseJson(new TextEncoder().encode(text), LIMITS);
    assert.equal(parsed.kind, "too_large");
  }
});

Deno.test("parseJson() parses everything within the limits like JSON.parse()", () => {
  const texts = [
    "[".repeat(10) + "]".repeat(10),
    `[${"1,".repeat(49)}1]`,
    '{"a\\"[[[[":"\\\\","b":"\\\\\\"{{{","__proto__":{"x":1}}',
    '"\\ud800"',
    "1e400",
    ` "${"[".repeat(1_000)}" `,
  ];
  for (const text of texts) {
    assert.deepEqual(parseJson(text, LIMITS), { kind: "json", value: JSON.parse(text) });
  }
  assert.equal(parseJson("{", LIMITS).kind, "not_json");
  assert.equal(parseJsonOrUndefined("nonsense", LIMITS), undefined);
});

Deno.test("parseJson() refuses whole numbers that programs round, where the limits say so", () => {
  const limitOf = (number: string) => {
    const bytes = new TextEncoder().encode(`{"of":[true,${number}],"text":"${number}"}`);
    const limits = [1, 2, 7, bytes.byteLength].map((size) => {
      const meter = new JsonMeter({ ...LIMITS, digits: 15 });
      for (let place = 0; place < bytes.byteLength; place += size) {
        const excess = meter.feed(bytes.subarray(place, place + size));
        if (excess !== null) return excess.limit;
      }
      return null;
    });
    assert.equal(new Set(limits).size, 1, number);
    return limits[0];
  };
  for (const rounded of ["9007199254740993", "-1234567890123456789", "9".repeat(500)]) {
    assert.equal(limitOf(rounded), "digits", rounded);
    assert.equal(exceeded(`[${rounded}]`), null);
  }
  for (
    const exact of ["999999999999999", "9007199254740992", "1500000000000000000", "1e300", "0"]
  ) assert.equal(limitOf(exact), null, exact);
  assert.equal(limitOf("3.14159265358979323846"), null, "a fraction is near enough");
  assert.equal(limitOf("1,2,3"), null);
});

Deno.test("parseJson() counts a number as long as it is without its exponent", () => {
  const limits = { ...LIMITS, bytes: 1_000, items: 1_000 };
  const numbers = (number: string, count: number) => `[${Array(count).fill(number).join()}]`;

  for (const number of ["1e300", "1E+300", "-1.5e-300"]) {
    assert.equal(measureJson(numbers(number, 3), limits), null);
    assert.equal(measureJson(numbers(number, 4), limits)?.limit, "bytes", number);
  }
  assert.equal(measureJson(numbers("true", 180), limits), null);
  assert.equal(measureJson(`["${"1e300 ".repeat(20)}"]`, limits), null);
});

Deno.test("JsonMeter counts a document's contents, in whatever pieces it arrives", () => {
  const document: JsonValue = {
    "a\\": ['"', "\\", "[,]", { 'k"': [] }],
    b: [[1, 2], [], [[{}]]],
  };
  const counts = { depth: 5, members: 3, items: 11 };
  for (const indent of [0, 2]) {
    const bytes = new TextEncoder().encode(JSON.stringify(document, null, indent));
    for (let size = 1; size <= bytes.byteLength; size++) {
      const limitsHeld = (limits: JsonLimits) => {
        const meter = new JsonMeter(limits);
        let excess = null;
        for (let place = 0; place < bytes.byteLength; place += size) {
          excess = meter.feed(bytes.subarray(place, place + size));
        }
        return excess?.limit ?? null;
      };
      const exact = { bytes: bytes.byteLength, ...counts };
      assert.equal(limitsHeld(exact), null);
      for (const limit of ["bytes", "depth", "members", "items"] as const) {
        assert.equal(limitsHeld({ ...exact, [limit]: exact[limit] - 1 }), limit);
      }
    }
  }
});

Deno.test("an excess names the limit and the count", () => {
  const excess = measureJson("[".repeat(1_000), LIMITS);

  assert.deepEqual(excess, { limit: "depth", allowed: 10, found: 11 });
  assert.match(describeExcess(excess), /more than 10 levels of nesting \(11 were counted/);
});
