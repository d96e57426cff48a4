import { deepEqual, equal } from "node:assert/strict";
import { decodeFrame, encodeBroadcast, encodeFrame } from "./frames.ts";

const FRAME = {
  joinRef: "1",
  ref: "2",
  topic: "realtime:é",
  event: "phx_reply",
  payload: { a: 1 },
};

Deno.test("frames are arrays in 2.0.0 and objects in 1.0.0, and survive a round trip", () => {
  const [array, object] = [encodeFrame(FRAME, "2.0.0"), encodeFrame(FRAME, "1.0.0")];

  equal(array, '["1","2","realtime:é","phx_reply",{"a":1}]');
  deepEqual(JSON.parse(object), {
    topic: "realtime:é",
    event: "phx_reply",
    payload: { a: 1 },
    ref: "2",
    join_ref: "1",
  });
  deepEqual(decodeFrame(array, "2.0.0"), { ...FRAME, bytes: array.length });
  deepEqual(decodeFrame(object, "1.0.0"), { ...FRAME, bytes: object.length });
});

Deno.test("a binary push is read as the broadcast frame of 1.0.0", () => {
  const push = pushBytes(["1", "2", "realtime:é", "evt", '{"k":1}'], 1, '{"n":"ü"}');

  deepEqual(decodeFrame(push.buffer, "2.0.0"), {
    joinRef: "1",
    ref: "2",
    topic: "realtime:é",
    event: "broadcast",
    payload: { type: "broadcast", event: "evt", payload: { n: "ü" } },
    bytes: push.length,
  });
});

Deno.test("a binary push with a binary payload keeps its bytes", () => {
  const push = pushBytes(["", "2", "realtime:x", "evt", ""], 0, "\u0000\u0001");

  const frame = decodeFrame(push.buffer, "2.0.0");

  deepEqual([frame?.joinRef, frame?.payload], [
    null,
    { type: "broadcast", event: "evt", payload: new Uint8Array([0, 1]) },
  ]);
});

Deno.test("decodeFrame() returns null for invalid frames", () => {
  const cut = pushBytes(["1", "2", "realtime:x", "evt", ""], 1, "{}").slice(0, 12);
  const texts = ["", "null", "[]", '["1","2",3,"e",{}]', '{"topic":"t"}'];

  deepEqual(texts.map((text) => decodeFrame(text, "2.0.0")), texts.map(() => null));
  equal(decodeFrame(cut.buffer, "2.0.0"), null);
  equal(decodeFrame(new Uint8Array([4, 0]).buffer, "2.0.0"), null);
  equal(decodeFrame(new Uint8Array([3]).buffer, "1.0.0"), null);
  equal(decodeFrame('["1","2","t","e",{}]', "1.0.0"), null);
});

Deno.test("a broadcast is text, with its meta if it has one", () => {
  const broadcast = { topic: "realtime:x", event: "e", payload: { n: 1 }, meta: { id: "m" } };

  equal(
    encodeBroadcast(broadcast, "2.0.0"),
    '[null,null,"realtime:x","broadcast",{"type":"broadcast","event":"e","payload":{"n":1},"meta":{"id":"m"}}]',
  );
});

Deno.test("a binary broadcast has kind 4 in 2.0.0, and is not sent in 1.0.0", () => {
  const broadcast = { topic: "t", event: "ev", payload: new Uint8Array([9, 8]) };

  deepEqual(
    encodeBroadcast(broadcast, "2.0.0"),
    new Uint8Array([4, 1, 2, 0, 0, ...new TextEncoder().encode("tev"), 9, 8]),
  );
  equal(encodeBroadcast(broadcast, "1.0.0"), null);
});

function pushBytes(fields: string[], encoding: number, payload: string): Uint8Array<ArrayBuffer> {
  const encoded = fields.map((field) => new TextEncoder().encode(field));
  return new Uint8Array([
    3,
    ...encoded.map((field) => field.length),
    encoding,
    ...encoded.flatMap((field) => [...field]),
    ...new TextEncoder().encode(payload),
  ]);
}
