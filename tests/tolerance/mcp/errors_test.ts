import assert from "node:assert/strict";
import type { JsonValue } from "../../../shared/platform/values/json.ts";
import type { ErrorCode } from "../../../shared/platform/errors/codes.ts";
import { callPeer, ERAS, openPeer, type PeerRequest } from "./peer.ts";

interface ErrorCase {
  readonly name: string;
  readonly status: number;
  readonly body: (id: number) => JsonValue;
  readonly message: string;
  readonly code: ErrorCode;
}

const invalid = { code: -32602, message: "Invalid arguments: x is required" };

function envelope(error: JsonValue) {
  return (id: number): JsonValue => ({ jsonrpc: "2.0", id, error });
}

const ERRORS: readonly ErrorCase[] = [
  ...[200, 400, 404, 409, 422, 500].map((status): ErrorCase => ({
    name: `invalid arguments with HTTP ${status}`,
    status,
    body: envelope(invalid),
    message: "Invalid arguments: x is required",
    code: "TOOL_ARGUMENTS_INVALID",
  })),
  {
    name: "an unknown tool with HTTP 404",
    status: 404,
    body: envelope({ code: -32602, message: "Unknown tool: tool" }),
    message: "Unknown tool: tool",
    code: "TOOL_NOT_FOUND",
  },
  {
    name: "a code of the server's own with HTTP 422",
    status: 422,
    body: envelope({ code: 1234, message: "The order is closed", data: null }),
    message: "The order is closed",
    code: "TOOL_FAILED",
  },
  {
    name: "an error without an id",
    status: 400,
    body: () => ({ jsonrpc: "2.0", id: null, error: invalid }),
    message: invalid.message,
    code: "TOOL_ARGUMENTS_INVALID",
  },
  {
    name: "an error beside a result that is null",
    status: 200,
    body: (id) => ({ jsonrpc: "2.0", id, result: null, error: invalid }),
    message: invalid.message,
    code: "TOOL_ARGUMENTS_INVALID",
  },
  {
    name: "an id and a code as texts",
    status: 200,
    body: (id) => ({ jsonrpc: "2.0", id: String(id), error: { ...invalid, code: "-32602" } }),
    message: invalid.message,
    code: "TOOL_ARGUMENTS_INVALID",
  },
  {
    name: "an error without the version of JSON-RPC",
    status: 400,
    body: (id) => ({ id, error: invalid }),
    message: invalid.message,
    code: "TOOL_ARGUMENTS_INVALID",
  },
  {
    name: "an error that is a text",
    status: 400,
    body: envelope("x is required"),
    message: "x is required",
    code: "TOOL_FAILED",
  },
  {
    name: "an error without a code",
    status: 400,
    body: envelope({ message: "x is required" }),
    message: "x is required",
    code: "TOOL_FAILED",
  },
  {
    name: "an error without a message",
    status: 400,
    body: envelope({ code: -32603, message: null, data: { reason: "x is required" } }),
    message: "x is required",
    code: "TOOL_FAILED",
  },
];

for (const era of ERAS) {
  for (const { name, status, body, message, code } of ERRORS) {
    Deno.test(`a ${era} server's error reaches the model, once: ${name}`, async () => {
      const peer = openPeer(era, ({ id }) => Response.json(body(id), { status }));

      const answer = await callPeer(peer);

      assert.ok(answer.kind === "answered");
      assert.ok(answer.text.includes(message), answer.text);
      assert.deepEqual([answer.isError, answer.errorCode], [true, code]);
      assert.equal(peer.seen.length, 1);
    });
  }
}

Deno.test("a proxy's error is no answer of the server", async () => {
  for (const status of [500, 502, 504]) {
    const error = { code: -32603, message: "Internal error" };
    const peer = openPeer(
      "session",
      () => Response.json({ jsonrpc: "2.0", id: null, error }, { status }),
    );

    assert.equal((await callPeer(peer)).kind, "lost");
  }
});

Deno.test("a response to another request is no answer to this one", async () => {
  const result = { content: [{ type: "text", text: "somebody else's" }] };
  const peer = openPeer(
    "session",
    ({ id }) => Response.json({ jsonrpc: "2.0", id: id + 1, result }),
  );

  assert.equal((await callPeer(peer)).kind, "lost");
});

/** The ways in which servers say that they do not know a session. */
const LOSSES: Readonly<Record<string, (request: PeerRequest) => Response>> = {
  "HTTP 200 and a JSON-RPC error": ({ id }) =>
    Response.json({ jsonrpc: "2.0", id, error: { code: -32001, message: "Session not found" } }),
  "HTTP 410": () => new Response(null, { status: 410 }),
  "HTTP 404 and a text": () => new Response("session not found", { status: 404 }),
  "HTTP 404 and an error without an id": () =>
    Response.json({ jsonrpc: "2.0", id: null, error: { code: -32600, message: "Not Found" } }, {
      status: 404,
    }),
  "HTTP 400 and a server that was started again": ({ id }) =>
    Response.json({
      jsonrpc: "2.0",
      id,
      error: { code: -32000, message: "Bad Request: Server not initialized" },
    }, { status: 400 }),
  "HTTP 400 and an error that is no JSON-RPC": () =>
    Response.json({ error: "Bad request" }, { status: 400 }),
  "HTTP 404 and an internal error": ({ id }) =>
    Response.json({
      jsonrpc: "2.0",
      id,
      error: { code: -32603, message: "Session not found: first-session" },
    }, { status: 404 }),
};

for (const [name, lose] of Object.entries(LOSSES)) {
  Deno.test(`a lost session is replaced by one new, and the call repeated once: ${name}`, async () => {
    const peer = openPeer(
      "session",
      (request) => request.sessionId === "first-session" ? lose(request) : undefined,
    );

    const answer = await callPeer(peer);

    assert.ok(answer.kind === "answered");
    assert.equal(answer.text, "well");
    const calls = peer.seen.filter(({ method }) => method === "tools/call");
    assert.deepEqual(calls.map((call) => call.sessionId), ["first-session", "next-session"]);
    assert.equal(peer.saved.at(-1)?.session?.id, "next-session");
  });
}

Deno.test("a session that is lost again is reported", async () => {
  const error = { code: -32001, message: "Session not found" };
  const peer = openPeer(
    "session",
    ({ id, method }) =>
      method === "tools/call" ? Response.json({ jsonrpc: "2.0", id, error }) : undefined,
  );

  const answer = await callPeer(peer);

  assert.ok(answer.kind === "answered");
  assert.deepEqual([answer.text, answer.isError], ["Session not found", true]);
  assert.equal(peer.seen.filter(({ method }) => method === "tools/call").length, 2);
});

const LOST = "Session not found";

/** Ways to say so, without a code or status of the protocol, after which the tool may have run. */
const DOUBTS: Readonly<Record<string, (request: PeerRequest) => Response>> = {
  "result": ({ id }) => {
    const result = { content: [{ type: "text", text: LOST }], isError: true };
    return Response.json({ jsonrpc: "2.0", id, result });
  },
  "internal error": ({ id }) =>
    Response.json({ jsonrpc: "2.0", id, error: { code: -32603, message: LOST } }),
  "crash": () => new Response(LOST, { status: 500 }),
  "error": ({ id }) =>
    Response.json({ jsonrpc: "2.0", id, error: { code: -32000, message: LOST } }),
  "error in a stream": ({ id }) => {
    const data = JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32000, message: LOST } });
    const headers = { "content-type": "text/event-stream" };
    return new Response(`event: message\ndata: ${data}\n\n`, { headers });
  },
  "error about its arguments": ({ id }) =>
    Response.json({ jsonrpc: "2.0", id, error: { code: -32602, message: LOST } }),
  "error with HTTP 422": ({ id }) => {
    const error = { code: -32000, message: LOST };
    return Response.json({ jsonrpc: "2.0", id, error }, { status: 422 });
  },
  "text": () => new Response(LOST),
  "text with HTTP 422": () => new Response(LOST, { status: 422 }),
};

for (const [name, lose] of Object.entries(DOUBTS)) {
  Deno.test(`a tool's own ${name} about a session repeats only a read, and the next call begins anew`, async () => {
    const answering = (request: PeerRequest) =>
      request.sessionId === "first-session" ? lose(request) : undefined;
    const writing = openPeer("session", answering);
    const written = await callPeer(writing);
    const read = await callPeer(openPeer("session", answering), { readOnlyHint: true });

    assert.ok(written.kind === "answered" && read.kind === "answered");
    assert.deepEqual([written.text, written.isError], [LOST, true]);
    assert.equal(writing.seen.length, 1);
    assert.equal(writing.saved.at(-1)?.session, null);
    assert.equal(read.text, "well");
  });
}
