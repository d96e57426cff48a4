import assert from "node:assert/strict";
import { comparableMs, threadCpuMs } from "../../scripts/test/cpu_time.ts";
import { waitFor } from "../../scripts/wait_for.ts";
import { startHost } from "./host_fixture.ts";

const WARM_REQUESTS = 200;
const MAX_COST_MS = 3;

const ECHO = `Deno.serve(async (request) => Response.json({
  method: request.method,
  url: request.url,
  headers: Object.fromEntries(request.headers),
  body: await request.text(),
}));`;

const TICKER = `
let cancelled = 0;
Deno.serve((request) => {
  if (new URL(request.url).pathname.endsWith("/cancelled")) return Response.json(cancelled);
  let timer;
  const body = new ReadableStream({
    start(controller) {
      timer = setInterval(() => controller.enqueue(new TextEncoder().encode("data: tick\\n\\n")), 10);
    },
    cancel() { clearInterval(timer); cancelled += 1; },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
});`;

Deno.test("a function gets method, path after its name, headers and body unchanged", async () => {
  await using fixture = await startHost({ echo: ECHO });

  const response = await fixture.get("echo", "/deep/path?q=1", {
    method: "POST",
    headers: { "content-type": "text/plain", "x-custom": "yes", "content-length": "5" },
    body: "hello",
  });

  const seen = await response.json();
  assert.equal(seen.method, "POST");
  assert.equal(seen.url, "http://stack.test:54321/echo/deep/path?q=1");
  assert.equal(seen.body, "hello");
  assert.equal(seen.headers["x-custom"], "yes");
  assert.equal(seen.headers["content-length"], "5");
  assert.equal(seen.headers.host, "stack.test:54321");
  assert.equal(seen.headers["x-forwarded-proto"], "http");
});

Deno.test("the port of a function answers nobody but the API, and the function does not see why", async () => {
  await using fixture = await startHost({
    own: `let port;
    Deno.serve({ onListen: (address) => port = address.port }, (request) =>
      Response.json({ port, headers: Object.fromEntries(request.headers) }));`,
  });
  const { port, headers } = await (await fixture.get("own")).json();

  const direct = await fetch(`http://127.0.0.1:${port}/own`);
  const forged = await fetch(`http://127.0.0.1:${port}/own`, {
    headers: { "x-stack-isolate-key": "guessed", "x-forwarded-host": "127.0.0.1" },
  });

  assert.deepEqual([direct.status, forged.status], [403, 403]);
  await Promise.all([direct.body?.cancel(), forged.body?.cancel()]);
  assert.ok(!("x-stack-isolate-key" in headers));
});

Deno.test("a function's status, headers and redirects reach the client unchanged", async () => {
  await using fixture = await startHost({
    odd: `export default { fetch: () => new Response(null, {
      status: 302, headers: [["location", "/x"], ["set-cookie", "a=1"], ["set-cookie", "b=2"]],
    }) };`,
  });

  const response = await fixture.get("odd");

  assert.equal(response.status, 302);
  assert.equal(response.headers.get("location"), "/x");
  assert.deepEqual(response.headers.getSetCookie(), ["a=1", "b=2"]);
});

Deno.test("an answer streams, and a client that disconnects ends it in the function", async () => {
  await using fixture = await startHost({ ticker: TICKER });

  const response = await fixture.get("ticker");
  const reader = response.body?.getReader();
  const first = await reader?.read();
  await reader?.cancel();

  assert.match(new TextDecoder().decode(first?.value), /^data: tick/);
  await waitFor(async () => (await (await fixture.get("ticker", "/cancelled")).json()) === 1);
});

Deno.test("a client that disconnects before the answer aborts the function's request signal", async () => {
  await using fixture = await startHost({
    slow: `let state = "idle";
    Deno.serve((request) => {
      if (new URL(request.url).pathname.endsWith("/state")) return Response.json(state);
      state = "pending";
      return new Promise((resolve) => request.signal.addEventListener("abort", () => {
        state = "aborted";
        resolve(new Response());
      }));
    });`,
  });
  const hasState = async (state: string) =>
    await (await fixture.get("slow", "/state")).json() === state;
  const client = new AbortController();

  const answer = fixture.get("slow", "", { signal: client.signal });
  await waitFor(() => hasState("pending"), { what: "the request in the function" });
  client.abort();

  assert.equal((await answer).status, 499);
  await waitFor(() => hasState("aborted"), { what: "the abort in the function" });
});

Deno.test("a large body is streamed completely to the function", async () => {
  await using fixture = await startHost({
    size: `Deno.serve(async (request) => Response.json((await request.bytes()).length));`,
  });

  const response = await fixture.get("size", "", { method: "POST", body: new Uint8Array(5e6) });

  assert.equal(await response.json(), 5e6);
});

Deno.test("the host lists functions by folder and answers 404 for another name", async () => {
  await using fixture = await startHost({ b: ECHO, a: ECHO, _shared: ECHO });

  const response = await fixture.get("_shared");

  assert.deepEqual(fixture.host.names, ["a", "b"]);
  assert.equal(response.status, 404);
  assert.equal((await response.json()).error.code, "FUNCTION_NOT_FOUND");
});

Deno.test("a warm request takes the host at most 3 ms of CPU time", async () => {
  await using fixture = await startHost({ ping: `Deno.serve(() => new Response("pong"));` });
  await (await fixture.get("ping")).text();

  const beganAtMs = threadCpuMs();
  for (let i = 0; i < WARM_REQUESTS; i += 1) await (await fixture.get("ping")).text();
  const costMs = comparableMs((threadCpuMs() - beganAtMs) / WARM_REQUESTS, MAX_COST_MS);

  assert.ok(costMs <= MAX_COST_MS, `${costMs.toFixed(2)} ms`);
});

Deno.test("a websocket reaches the function with its subprotocol and passes messages both ways", async () => {
  await using fixture = await startHost({
    socket: `Deno.serve((request) => {
      const { socket, response } = Deno.upgradeWebSocket(request, { protocol: "chat" });
      socket.onopen = () => socket.send("welcome");
      socket.onmessage = ({ data }) => { socket.send(data); socket.close(4000, "bye"); };
      return response;
    });`,
  });
  await using server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    (request) => fixture.host.fetch("socket", request),
  );

  const socket = new WebSocket(`ws://127.0.0.1:${server.addr.port}/functions/v1/socket`, ["chat"]);
  const messages: string[] = [];
  socket.onmessage = ({ data }) => messages.push(data);
  socket.onopen = () => socket.send("hello");
  const closed = await new Promise<CloseEvent>((resolve) => socket.onclose = resolve);

  assert.equal(socket.protocol, "chat");
  assert.deepEqual(messages, ["welcome", "hello"]);
  assert.deepEqual([closed.code, closed.reason], [4000, "bye"]);
});

Deno.test("a function that refuses a websocket keeps serving", async () => {
  await using fixture = await startHost({ plain: `Deno.serve(() => new Response("plain"));` });
  const headers = { upgrade: "websocket", connection: "upgrade" };

  const refused = await fixture.get("plain", "", { headers });

  assert.equal(refused.status, 502);
  assert.equal((await refused.json()).error.code, "FUNCTION_NO_WEBSOCKET");
  assert.equal(await (await fixture.get("plain")).text(), "plain");
});
