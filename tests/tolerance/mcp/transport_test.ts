import assert from "node:assert/strict";
import { callPeer, ERAS, openPeer, type PeerRequest } from "./peer.ts";

const TEXT = "größer als 1 😀";

type Body = string | Uint8Array | ReadableStream<Uint8Array>;

function bodyOf({ id }: PeerRequest): string {
  return JSON.stringify({
    jsonrpc: "2.0",
    id,
    result: { resultType: "complete", content: [{ type: "text", text: TEXT }] },
  });
}

/** The bytes one by one, so that every character and line end is cut. */
function inPieces(text: string | Uint8Array, size: number): ReadableStream<Uint8Array> {
  const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
  return new ReadableStream({
    start(controller) {
      for (let place = 0; place < bytes.length; place += size) {
        controller.enqueue(bytes.slice(place, place + size));
      }
      controller.close();
    },
  });
}

function utf16(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length * 2);
  const view = new DataView(bytes.buffer);
  for (let index = 0; index < text.length; index++) {
    view.setUint16(index * 2, text.charCodeAt(index), true);
  }
  return bytes;
}

const progress = JSON.stringify({
  jsonrpc: "2.0",
  method: "notifications/progress",
  params: null,
});

/** Forms of a response: its media type and its body. */
const FORMS: Readonly<Record<string, (request: PeerRequest) => readonly [string | null, Body]>> = {
  "JSON with a charset": (request) => ["application/json; charset=utf-8", bodyOf(request)],
  "JSON with a quoted charset": (request) => ['Application/JSON;charset="UTF-8"', bodyOf(request)],
  "JSON in UTF-16": (request) => ["application/json; charset=utf-16le", utf16(bodyOf(request))],
  "JSON with an unknown charset": (request) => ["application/json; charset=x", bodyOf(request)],
  "JSON with a byte order mark": (request) => ["application/json", `\uFEFF${bodyOf(request)}`],
  "JSON with another media type": (request) => ["application/json-rpc", bodyOf(request)],
  "JSON as a text": (request) => ["text/plain", bodyOf(request)],
  "JSON without a media type": (request) => [null, new TextEncoder().encode(bodyOf(request))],
  "JSON as one of several messages": (request) => [
    "application/json",
    `[${progress},${bodyOf(request)}]`,
  ],
  "events that end with CR": (request) => [
    "text/event-stream",
    `event: message\rdata: ${bodyOf(request)}\r\r`,
  ],
  "events that end with CR LF, byte by byte": (request) => [
    "text/event-stream",
    inPieces(`event: message\r\ndata: ${bodyOf(request)}\r\n\r\n`, 1),
  ],
  "events that end with CR, byte by byte": (request) => [
    "text/event-stream",
    inPieces(`: hello\rdata: ${progress}\r\rdata: ${bodyOf(request)}\r\r`, 1),
  ],
  "events in pieces of three bytes": (request) => [
    "text/event-stream;charset=utf-8",
    inPieces(`\uFEFF: comment\n\nid: 1\nretry: 5\ndata:${bodyOf(request)}\n\n`, 3),
  ],
  "events with a byte order mark and comments": (request) => [
    "Text/Event-Stream",
    `\uFEFF: ping\n\n: ping\ndata: ${bodyOf(request)}\n: ping\n\n`,
  ],
  "an event over several lines": (request) => [
    "text/event-stream",
    `data: ${bodyOf(request).replace(',"result"', ',\ndata: "result"')}\n\n`,
  ],
  "an event that no empty line ends": (request) => [
    "text/event-stream",
    `data: ${bodyOf(request)}`,
  ],
  "an event of another name": (request) => [
    "text/event-stream",
    `event: response\ndata: ${bodyOf(request)}\n\n`,
  ],
  "events between others that are no messages": (request) => [
    "text/event-stream",
    `event: ping\ndata: {}\n\ndata: [DONE]\n\ndata: ${bodyOf(request)}\n\n`,
  ],
  "a stream that is one document": (request) => ["text/event-stream", bodyOf(request)],
  "one document on each line": (request) => [
    "application/x-ndjson",
    `${progress}\r\n\n${bodyOf(request)}\r\n`,
  ],
  "a stream with one document on each line": (request) => [
    "text/event-stream",
    inPieces(`${progress}\n${bodyOf(request)}\n`, 5),
  ],
  "an event with one document on each line": (request) => [
    "text/event-stream",
    `data: ${progress}\ndata: ${bodyOf(request)}\n\n`,
  ],
  "events in UTF-16": (request) => [
    "text/event-stream; charset=utf-16le",
    inPieces(utf16(`data: ${bodyOf(request)}\n\n`), 7),
  ],
  "events in UTF-16 with a byte order mark, byte by byte": (request) => [
    "text/event-stream",
    inPieces(utf16(`\uFEFFdata: ${bodyOf(request)}\r\n\r\n`), 1),
  ],
  "JSON in UTF-16 with a byte order mark": (request) => [
    "application/json; charset=utf-8",
    utf16(`\uFEFF${bodyOf(request)}`),
  ],
  "events as JSON": (request) => ["application/json", `data: ${bodyOf(request)}\n\n`],
};

for (const era of ERAS) {
  for (const [name, form] of Object.entries(FORMS)) {
    Deno.test(`a ${era} server's response is read: ${name}`, async () => {
      const peer = openPeer(era, (request) => {
        const [type, body] = form(request);
        const headers: HeadersInit = type === null ? {} : { "content-type": type };
        return new Response(body as BodyInit, { headers });
      });

      const answer = await callPeer(peer);

      assert.ok(answer.kind === "answered");
      assert.deepEqual([answer.text, answer.isError], [TEXT, false]);
    });
  }
}

for (const type of ["application/json", "text/event-stream"]) {
  Deno.test(`a response that is compressed is read: ${type}`, async () => {
    const server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen: () => {} },
      async (request) => {
        const body = bodyOf(await request.json());
        const text = type === "application/json" ? body : `data: ${body}\r\r`;
        const zipped = inPieces(text, 7).pipeThrough(
          new CompressionStream("gzip") as ReadableWritablePair<Uint8Array, Uint8Array>,
        );
        return new Response(zipped, {
          headers: { "content-type": type, "content-encoding": "gzip" },
        });
      },
    );
    const answer = await callPeer(
      openPeer(
        "session",
        () => undefined,
        "known",
        (_, init) => fetch(`http://127.0.0.1:${server.addr.port}`, init),
      ),
    );
    await server.shutdown();

    assert.ok(answer.kind === "answered");
    assert.equal(answer.text, TEXT);
  });
}

for (const era of ERAS) {
  Deno.test(`events of a ${era} server in UTF-16 are limited like others`, async () => {
    const flood = "data: 1\n\n".repeat(10_001);
    const bodies: readonly (readonly [charset: string, Body])[] = [
      ["utf-8", flood],
      ["utf-16", utf16(flood)],
      ["utf-8", utf16(`\uFEFF${flood}`)],
    ];
    for (const [charset, body] of bodies) {
      const headers = { "content-type": `text/event-stream; charset=${charset}` };
      const peer = openPeer(era, () => new Response(body as BodyInit, { headers }));

      const answer = await callPeer(peer);

      assert.ok(answer.kind === "answered", JSON.stringify(answer));
      assert.match(answer.text, /more than 10000 events/);
    }
  });
}

Deno.test("a response that says nothing is lost at once", async () => {
  const peer = openPeer("session", () => new Response("<html>", { status: 200 }));

  assert.equal((await callPeer(peer)).kind, "lost");
});

Deno.test("whole numbers that programs round are text in the structure, and said", async () => {
  for (const era of ERAS) {
    const peer = openPeer(era, ({ id }) =>
      new Response(
        `{"jsonrpc":"2.0","id":${id},"result":{"resultType":"complete","content":[{"type":"text",` +
          `"text":"n is 1610521604143693812"}],"structuredContent":{"id":1610521604143693812,` +
          `"big":1e999,"round":1500000000000000000,"half":0.5,"of":[-9007199254740993],` +
          `"said":"1610521604143693812"}}}`,
        { headers: { "content-type": "application/json" } },
      ));

    const answer = await callPeer(peer);

    assert.ok(answer.kind === "answered");
    assert.deepEqual(answer.structured, {
      id: "1610521604143693812",
      big: "1e999",
      round: 1500000000000000000,
      half: 0.5,
      of: ["-9007199254740993"],
      said: "1610521604143693812",
    });
    assert.match(answer.text, /^n is 1610521604143693812\n.*given as text in structuredContent/);
  }
});
