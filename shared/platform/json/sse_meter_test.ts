import assert from "node:assert/strict";
import type { JsonLimits } from "./json_limits.ts";
import { SseMeter } from "./sse_meter.ts";

const LIMITS: JsonLimits = { bytes: 1_000, depth: 3, members: 4, items: 4, events: 25 };

/** The limit that a stream exceeds, in whatever pieces it arrives. */
function exceeded(text: string): string | null {
  const bytes = new TextEncoder().encode(text);
  const found = [1, 2, 3, 7, bytes.byteLength].map((size) => {
    const meter = new SseMeter(LIMITS);
    for (let place = 0; place < bytes.byteLength; place += size) {
      const excess = meter.feed(bytes.subarray(place, place + size));
      if (excess !== null) return excess.limit;
    }
    return null;
  });
  assert.deepEqual(new Set(found).size, 1, `${JSON.stringify(text)} depends on its pieces`);
  return found[0] ?? null;
}

Deno.test("SseMeter measures each event separately, whatever ends its lines", () => {
  for (const end of ["\n", "\r\n", "\r"]) {
    const event = `event: message${end}data: {"a":[1,2],"b":{}}${end}${end}`;
    assert.equal(exceeded(`\uFEFF: hello${end}${event.repeat(20)}`), null, JSON.stringify(end));
    assert.equal(exceeded(`${event}data: [[[[1]]]]${end}${end}`), "depth", JSON.stringify(end));
    assert.equal(exceeded(`data:[1,2,${end}data:3,4,5]${end}${end}`), "items", JSON.stringify(end));
  }
});

Deno.test("SseMeter counts the events of a stream", () => {
  assert.equal(exceeded("data: 1\n\n".repeat(25)), null);
  assert.equal(exceeded("data: 1\n\n".repeat(26)), "events");
});

Deno.test("SseMeter ignores quotes and brackets outside the data", () => {
  assert.equal(exceeded(`: a comment with a "\ndata: [[[[1]]]]\n\n`), "depth");
  assert.equal(exceeded(`data: ["[[[[", 1]\n\n`), null);
  assert.equal(exceeded(`data: [\n[[[\n[[[\n\n`), "depth");
  assert.equal(exceeded(`data: [1]\n\r\n[\n[\n[\n[\n`), "depth");
  assert.equal(exceeded(`data: ${"x".repeat(1_100)}\n\n`), "bytes");
});
