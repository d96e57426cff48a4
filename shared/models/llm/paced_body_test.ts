import type { Bytes } from "../../platform/values/bytes.ts";
import assert from "node:assert/strict";
import { pacedBody } from "./paced_body.ts";

const encoder = new TextEncoder();

/** A stream whose pieces the test controls. */
function scripted() {
  let controller: ReadableStreamDefaultController<Bytes> | undefined;
  const body = new ReadableStream<Bytes>({
    start: (given) => void (controller = given),
  });
  return {
    body,
    send: (text: string) => controller?.enqueue(encoder.encode(text)),
    end: () => controller?.close(),
    fail: (error: Error) => controller?.error(error),
  };
}

function paced(
  body: ReadableStream<Bytes>,
  pauseMs: number | (() => number),
  signal?: AbortSignal,
) {
  const received: number[] = [];
  const stream = pacedBody(body, {
    watch: (waiting) => waiting,
    onReceived: (bytes) => received.push(bytes),
    pauseMs: typeof pauseMs === "number" ? () => pauseMs : pauseMs,
    signal: signal ?? new AbortController().signal,
  });
  return { reader: stream.pipeThrough(new TextDecoderStream()).getReader(), received };
}

Deno.test("pieces that arrive between two reads are passed on as one", async () => {
  const { body, send, end } = scripted();
  const { reader } = paced(body, 40);
  send("a");
  assert.equal((await reader.read()).value, "a");
  const rest = reader.read();
  send("b");
  send("c");
  end();

  assert.equal((await rest).value, "bc");
  assert.equal((await reader.read()).done, true);
});

Deno.test("each read decides when the next one follows", async () => {
  const { body, send, end } = scripted();
  const pausesMs = [0, 0, 40];
  const { reader } = paced(body, () => pausesMs.shift() ?? 40);
  send("a");
  send("b");
  send("c");
  assert.deepEqual([(await reader.read()).value, (await reader.read()).value], ["a", "b"]);
  assert.equal((await reader.read()).value, "c");
  const rest = reader.read();
  send("d");
  send("e");
  end();

  assert.equal((await rest).value, "de");
});

Deno.test("a body without a pause is passed on piece by piece", async () => {
  const { body, send, end } = scripted();
  const { reader, received } = paced(body, 0);
  send("a");
  send("b");
  end();

  assert.deepEqual([(await reader.read()).value, (await reader.read()).value], ["a", "b"]);
  assert.deepEqual(received, [1, 2]);
});

Deno.test("the next read throws a failure that occurred since the last one", async () => {
  const { body, send, fail } = scripted();
  const { reader } = paced(body, 30);
  send("a");
  await reader.read();
  fail(new TypeError("cut"));

  await assert.rejects(reader.read(), { message: "cut" });
});

Deno.test("an abort ends a pause", async () => {
  const { body, send, end } = scripted();
  const closed = new AbortController();
  const { reader } = paced(body, 3_600_000, closed.signal);
  send("a");
  await reader.read();
  const rest = reader.read();
  send("b");
  end();
  closed.abort();

  assert.equal((await rest).value, "b");
});
