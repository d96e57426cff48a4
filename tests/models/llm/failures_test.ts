import assert from "node:assert/strict";
import { MAX_ANSWER_CHARS } from "../../../shared/models/llm/answer_builder.ts";
import type { ErrorCode } from "../../../shared/platform/errors/codes.ts";
import { SwarmError } from "../../../shared/platform/errors/swarm_error.ts";
import { startModelServer } from "../../../scripts/models/model_server.ts";
import { scriptModel } from "../../../scripts/models/scripted_agent.ts";
import { waitFor } from "../../../scripts/wait_for.ts";
import { call, type CallOptions, request, TEST_KEY } from "./tested_model.ts";
import {
  beginStream,
  close,
  endStream,
  type RawAnswer,
  type RawServer,
  respond,
  startRawServer,
} from "./raw_server.ts";
import { WIRE_FORMATS, type WireFormat } from "./wire_format.ts";

const STREAMED: CallOptions = { onDelta: () => {} };

/** Runs `claim` against each adapter. */
function forEachFormat(name: string, claim: (format: WireFormat) => Promise<void>): void {
  for (const format of WIRE_FORMATS) Deno.test(`${format.api}: ${name}`, () => claim(format));
}

/** The error of a call to a server with this answer, and the final state of the server. */
async function failureOf(
  format: WireFormat,
  answer: RawAnswer,
  options: CallOptions = {},
): Promise<{ error: SwarmError; server: RawServer }> {
  const server = startRawServer(answer);
  try {
    const error = await call(format, server.origin, request(), options).catch((thrown) => thrown);
    assert.ok(error instanceof SwarmError, `expected a SwarmError, got ${Deno.inspect(error)}`);
    return { error, server };
  } finally {
    await server.stop();
  }
}

function errorBody(message: string, type = "some_error"): string {
  return JSON.stringify({ error: { message, type } });
}

const STATUSES: readonly (readonly [number, ErrorCode])[] = [
  [400, "MODEL_REQUEST_INVALID"],
  [401, "MODEL_AUTH_FAILED"],
  [402, "MODEL_AUTH_FAILED"],
  [403, "MODEL_AUTH_FAILED"],
  [404, "MODEL_NOT_FOUND"],
  [410, "MODEL_NOT_FOUND"],
  [413, "MODEL_REQUEST_INVALID"],
  [429, "MODEL_RATE_LIMITED"],
  [500, "MODEL_UNAVAILABLE"],
  [503, "MODEL_UNAVAILABLE"],
  [504, "MODEL_TIMEOUT"],
  [529, "MODEL_UNAVAILABLE"],
];

forEachFormat("maps each HTTP status to its code, after one request", async (format) => {
  for (const [status, code] of STATUSES) {
    const body = errorBody("the provider's words");

    const { error, server } = await failureOf(
      format,
      (connection) => respond(connection, { status, body }),
    );

    assert.equal(error.code, code, `HTTP ${status}`);
    assert.match(error.message, /'acme'.*the provider's words/);
    assert.equal(server.requests.length, 1);
  }
});

forEachFormat("reads Retry-After as seconds, as a date, or not at all", async (format) => {
  const limited = async (headers: Record<string, string>) => {
    const answer = { status: 429, headers, body: errorBody("slow down") };
    const { error } = await failureOf(format, (connection) => respond(connection, answer));
    return error.retryAfterSeconds;
  };

  const dated = await limited({ "retry-after": new Date(Date.now() + 30_000).toUTCString() });

  assert.equal(await limited({ "retry-after": "7" }), 7);
  assert.equal(await limited({}), undefined);
  assert.ok(dated !== undefined && dated > 20 && dated <= 30, String(dated));
});

Deno.test("google: reads the wait time from RetryInfo", async () => {
  const [format] = WIRE_FORMATS.filter(({ api }) => api === "google");
  assert.ok(format);
  const details = [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "7.5s" }];
  const body = JSON.stringify([{ error: { code: 429, message: "Quota", details } }]);

  const { error } = await failureOf(format, (conn) => respond(conn, { status: 429, body }));

  assert.equal(error.retryAfterSeconds, 7.5);
});

forEachFormat("does not report an empty account as a rate limit", async (format) => {
  const body = errorBody("You exceeded your current quota", "insufficient_quota");

  const { error } = await failureOf(format, (conn) => respond(conn, { status: 429, body }));

  assert.equal(error.code, "MODEL_AUTH_FAILED");
});

forEachFormat("reports that no server answers", async (format) => {
  const { server } = await failureOf(format, (conn) => respond(conn, { status: 500, body: "" }));

  const error = await call(format, server.origin).catch((thrown) => thrown);

  assert.equal(error.code, "MODEL_UNAVAILABLE");
});

forEachFormat("survives a connection that is closed without an answer", async (format) => {
  const { error, server } = await failureOf(format, (connection) => close(connection));

  assert.equal(error.code, "MODEL_UNAVAILABLE");
  assert.equal(server.requests.length, 1);
});

forEachFormat("refuses an incomplete stream", async (format) => {
  const events = format.events({ text: "Half of an answer" }).slice(0, 2);
  const cut: RawAnswer = async (connection) => {
    await beginStream(connection, events);
    close(connection);
  };
  const ended: RawAnswer = async (connection) => {
    await beginStream(connection, events);
    await endStream(connection);
  };

  for (const answer of [cut, ended]) {
    const { error } = await failureOf(format, answer, STREAMED);
    assert.equal(error.code, "MODEL_UNAVAILABLE");
  }
});

forEachFormat("stops waiting for a silent server, before or during an answer", async (format) => {
  const events = format.events({ text: "Half of an answer" }).slice(0, 1);
  const within: RawAnswer = (connection) => beginStream(connection, events);

  for (const answer of [() => {}, within]) {
    // Long enough for the request to reach the server, even on a busy machine.
    const { error, server } = await failureOf(format, answer, { ...STREAMED, idleTimeoutMs: 500 });
    assert.equal(error.code, "MODEL_TIMEOUT");
    assert.equal(server.requests.length, 1);
  }
});

forEachFormat("aborts a request in flight with the signal's reason", async (format) => {
  const reason = new Error("The task was cancelled");
  const events = format.events({ text: "Half of an answer" }).slice(0, -2);
  for (const begin of [false, true]) {
    const abort = new AbortController();
    const server = startRawServer(async (connection) => {
      if (begin) await beginStream(connection, events);
      else abort.abort(reason);
    });
    const options = { signal: abort.signal, onDelta: () => abort.abort(reason) };

    const error = await call(format, server.origin, request(), options).catch((thrown) => thrown);

    assert.equal(error, reason);
    await waitFor(() => server.closedCount() === 1, { what: "the connection's end" });
    await server.stop();
  }
});

/** Starts a non-streamed answer that never ends. */
function beginWhole(format: WireFormat): RawAnswer {
  const body = JSON.stringify(format.whole({ text: "Half of an answer" })).slice(0, -20);
  return (connection) => respond(connection, { body, headers: { "content-length": "9999" } });
}

forEachFormat("refuses a truncated non-streamed answer", async (format) => {
  const { error } = await failureOf(format, async (connection, number) => {
    await beginWhole(format)(connection, number);
    close(connection);
  });

  assert.equal(error.code, "MODEL_UNAVAILABLE");
});

forEachFormat("stops waiting for a missing or stalled non-streamed answer", async (format) => {
  for (const answer of [() => {}, beginWhole(format)]) {
    const { error, server } = await failureOf(format, answer, { idleTimeoutMs: 60 });
    assert.equal(error.code, "MODEL_TIMEOUT");
    assert.equal(server.requests.length, 1);
  }
});

forEachFormat("aborts a non-streamed answer in flight with the signal's reason", async (format) => {
  const reason = new Error("The task was cancelled");
  for (const begins of [false, true]) {
    const abort = new AbortController();
    const server = startRawServer(async (connection, number) => {
      if (begins) await beginWhole(format)(connection, number);
      abort.abort(reason);
    });
    const { signal } = abort;

    const error = await call(format, server.origin, request(), { signal }).catch((thrown) =>
      thrown
    );

    assert.equal(error, reason);
    await waitFor(() => server.closedCount() === 1, { what: "the connection's end" });
    await server.stop();
  }
});

forEachFormat("requests a non-streamed answer of any length", async (format) => {
  const body = JSON.stringify(format.whole({ text: "Hello" }));
  const server = startRawServer((connection) => respond(connection, { body }));

  const { text } = await call(format, server.origin, request({ maxOutputTokens: 64_000 }));

  assert.equal(text, "Hello");
  await server.stop();
});

forEachFormat("sends nothing if the signal is already aborted", async (format) => {
  const server = startRawServer(() => {});
  const signal = AbortSignal.abort("too late");

  const error = await call(format, server.origin, request(), { signal }).catch((thrown) => thrown);

  assert.equal(error, "too late");
  assert.equal(server.requests.length, 0);
  await server.stop();
});

forEachFormat("refuses an answer in another format", async (format) => {
  const bodies = ["<html>Welcome</html>", "{}", '{"choices":{},"content":7,"candidates":true}'];
  for (const body of bodies) {
    const { error } = await failureOf(format, (connection) => respond(connection, { body }));
    assert.ok(["MODEL_OUTPUT_INVALID", "MODEL_UNAVAILABLE"].includes(error.code), error.message);
  }

  const [first = ""] = format.events({ text: "Hello" });
  const { error } = await failureOf(format, async (connection) => {
    await beginStream(connection, [first.replace("{", "{not json")]);
    await endStream(connection);
  }, STREAMED);

  assert.equal(error.code, "MODEL_OUTPUT_INVALID", error.message);
});

forEachFormat("refuses an answer that is too long", async (format) => {
  const text = "x".repeat(MAX_ANSWER_CHARS + 1);
  const body = JSON.stringify(format.whole({ text }));
  const whole: RawAnswer = (connection) => respond(connection, { body });
  const streamed: RawAnswer = async (connection) => {
    await beginStream(connection, format.events({ text }));
    await endStream(connection);
  };

  const failures = [
    await failureOf(format, whole),
    await failureOf(format, streamed, STREAMED),
    await failureOf(format, whole, { maxResponseBytes: 1_000_000 }),
  ];

  for (const { error } of failures) {
    assert.equal(error.code, "MODEL_OUTPUT_INVALID");
    assert.match(error.message, /longer than/);
  }
});

forEachFormat("reads an error that the provider reports inside a stream", async (format) => {
  const [first = ""] = format.events({ text: "Half of an answer" });

  const { error } = await failureOf(format, async (connection) => {
    await beginStream(connection, [first, format.overloaded]);
    await endStream(connection);
  }, STREAMED);

  assert.equal(error.code, "MODEL_UNAVAILABLE");
  assert.match(error.message, /Overloaded/);
});

forEachFormat("never repeats the key, even if the provider does", async (format) => {
  const body = errorBody(`Incorrect API key provided: ${TEST_KEY}`);

  const { error, server } = await failureOf(
    format,
    (connection) => respond(connection, { status: 401, body }),
  );

  assert.ok(server.requests[0]?.headers.includes(TEST_KEY), "the key is sent");
  assert.match(error.message, /Incorrect API key provided: \[redacted\]/);
  assert.ok(!Deno.inspect(error, { depth: 9 }).includes(TEST_KEY));
});

forEachFormat("names what it cannot read without a key that is cut there", async (format) => {
  const events = format.events({ text: "Hello" });
  const server = startRawServer(async (connection) => {
    await beginStream(connection, [`data: ${"x".repeat(160)}${TEST_KEY}\n\n`, ...events]);
    await endStream(connection);
  });

  const { text, unread } = await call(format, server.origin, request(), STREAMED);
  await server.stop();

  assert.equal(text, "Hello");
  assert.match(String(unread), /not JSON: x+\[redacted/);
  assert.ok(!String(unread).includes(TEST_KEY.slice(0, 10)));
});

forEachFormat("sends no key header when the provider requires no key", async (format) => {
  const { server } = await failureOf(
    format,
    (connection) => respond(connection, { status: 500, body: "" }),
    { apiKey: null },
  );

  const headers = server.requests[0]?.headers.toLowerCase() ?? "";
  assert.ok(!headers.includes(`\n${format.keyHeader}:`), headers);
});

forEachFormat("does not follow a redirect with the key", async (format) => {
  const target = startRawServer(() => {});
  const headers = { location: `${target.origin}/elsewhere` };

  const { error } = await failureOf(
    format,
    (connection) => respond(connection, { status: 307, headers, body: "" }),
  );

  assert.equal(error.code, "MODEL_REQUEST_INVALID");
  assert.match(error.message, /redirect/);
  assert.equal(target.requests.length, 0);
  await target.stop();
});

forEachFormat("passes on the model server's script", async (format) => {
  const agents = [scriptModel("test-model", () => ({ text: "fine" }))];
  const server = await startModelServer({ agents });
  server.failNext("test-model", { kind: "rate_limit", retryAfterSeconds: 9 });
  server.failNext("test-model", { kind: "status", status: 500 });
  server.failNext("test-model", { kind: "cut", afterChunks: 2 });
  const ask = (model: string) =>
    call(format, server.url, request({ model }), STREAMED).catch((thrown) => thrown);

  const limited = await ask("test-model");
  const failed = await ask("test-model");
  const cut = await ask("test-model");
  const fine = await ask("test-model");
  const unknown = await ask("gpt-unheard-of");
  await server.stop();

  assert.deepEqual([limited.code, limited.retryAfterSeconds], ["MODEL_RATE_LIMITED", 9]);
  assert.equal(failed.code, "MODEL_UNAVAILABLE");
  assert.equal(cut.code, "MODEL_UNAVAILABLE");
  assert.equal(fine.text, "fine");
  assert.equal(unknown.code, "MODEL_NOT_FOUND");
  assert.match(unknown.message, /only plays test-model/);
  assert.equal(server.journal.count("test-model"), 4);
  assert.equal(server.journal.search(TEST_KEY).length, 0);
});
