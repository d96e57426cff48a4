import assert from "node:assert/strict";
import { readBody } from "./read_body.ts";

function postStream(body: ReadableStream<Uint8Array<ArrayBuffer>>): Request {
  return new Request("http://localhost/", { method: "POST", body });
}

Deno.test("readBody() stops reading a body that does not end", async () => {
  let isCancelled = false;
  const drip = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start: (controller) => controller.enqueue(new Uint8Array([1])),
    cancel: () => void (isCancelled = true),
  });

  await assert.rejects(readBody(postStream(drip), 1_000, { timeoutMs: 20 }), {
    code: "BODY_INVALID",
    message: /has not arrived within/,
  });
  assert.ok(isCancelled, "and reads no more of it");
});

Deno.test("readBody() reads a body that arrives in pieces", async () => {
  const pieces = [new Uint8Array([1, 2]), new Uint8Array(), new Uint8Array([3])];

  const body = await readBody(postStream(ReadableStream.from(pieces)), 3);

  assert.deepEqual([...body], [1, 2, 3]);
});

Deno.test("readBody() reads no more than its limit", async () => {
  const pieces = ReadableStream.from([new Uint8Array(3), new Uint8Array(3)]);

  await assert.rejects(readBody(postStream(pieces), 5), { code: "BODY_INVALID" });
});
