import assert from "node:assert/strict";
import { connect } from "node:net";
import {
  type LocalCallers,
  localCallers,
  LOOPBACK_CALLERS,
  serveLocally,
} from "./local_callers.ts";

/** Serves "answered", with sockets that open, and returns what a raw request gets. */
function serveAnswered(callers: LocalCallers = LOOPBACK_CALLERS) {
  const server = serveLocally({ callers }, (request) => {
    if (request.headers.get("upgrade") !== "websocket") return new Response("answered");
    return Deno.upgradeWebSocket(request).response;
  });
  const { port } = server.addr;
  const statusOf = (
    headers: Readonly<Record<string, string>>,
    target = "/",
  ) => rawStatus(port, `GET ${target} HTTP/1.1`, { host: `127.0.0.1:${port}`, ...headers });
  const upgrade = {
    connection: "Upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
  };
  return {
    port,
    statusOf,
    socketStatusOf: (headers: Readonly<Record<string, string>>) =>
      statusOf({ ...upgrade, ...headers }),
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** Sends a request as it is; `fetch` would correct its headers. */
function rawStatus(
  port: number,
  line: string,
  headers: Readonly<Record<string, string>>,
): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const socket = connect(port, "127.0.0.1");
  socket.on("error", reject);
  socket.on("data", (bytes) => {
    resolve(Number(bytes.toString().split(" ")[1]));
    socket.destroy();
  });
  const sent = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`).join("");
  socket.write(`${line}\r\n${sent}\r\n`);
  return promise;
}

Deno.test("a request to another host name is refused, whatever the name resolves to", async () => {
  await using server = serveAnswered();
  const { port, statusOf, socketStatusOf } = server;
  const forged = [
    "rebound.example.com",
    `rebound.example.com:${port}`,
    "localhost.example.com",
    "127.0.0.1.example.com",
    "notlocalhost",
    "0.0.0.0",
    "192.168.0.7",
    "[::ffff:c0a8:7]",
    "",
  ];

  for (const host of forged) {
    assert.ok([400, 403].includes(await statusOf({ host })), `HTTP with host '${host}'`);
    assert.ok([400, 403].includes(await socketStatusOf({ host })), `WebSocket with host '${host}'`);
  }
  assert.equal(await statusOf({}, "http://rebound.example.com/"), 403, "the target names the host");
});

Deno.test("a page of another site is refused, over HTTP and WebSocket", async () => {
  await using server = serveAnswered();
  const forged = [
    "https://example.com",
    "http://localhost.example.com",
    "http://127.0.0.1.example.com",
    "https://example.com:54321",
    "null",
    "file://",
    "",
  ];

  for (const origin of forged) {
    assert.equal(await server.statusOf({ origin }), 403, `HTTP from '${origin}'`);
    assert.equal(await server.socketStatusOf({ origin }), 403, `WebSocket from '${origin}'`);
  }
});

Deno.test("programs without an origin and pages of any loopback port are answered", async () => {
  await using server = serveAnswered();
  const { port, statusOf, socketStatusOf } = server;

  assert.equal(await statusOf({}), 200);
  for (const host of [`localhost:${port}`, `LOCALHOST:${port}`, `[::1]:${port}`, "app.localhost"]) {
    assert.equal(await statusOf({ host }), 200, host);
  }
  const pages = ["http://localhost:5173", "http://127.0.0.1:54323", "https://app.localhost"];
  for (const origin of pages) {
    assert.equal(await statusOf({ origin }), 200, origin);
    assert.equal(await socketStatusOf({ origin }), 101, origin);
  }
});

Deno.test("settings add hosts and origins, and the public address is allowed by itself", async () => {
  await using server = serveAnswered(localCallers({
    SUPASWARM_PUBLIC_URL: "https://project.tunnel.test",
    SUPASWARM_ALLOWED_HOSTS: "Host.Docker.Internal, other.test",
    SUPASWARM_ALLOWED_ORIGINS: "https://app.example.com",
  }));

  for (const host of ["project.tunnel.test", "host.docker.internal:54321", "other.test"]) {
    assert.equal(await server.statusOf({ host }), 200, host);
  }
  for (const origin of ["https://app.example.com", "https://project.tunnel.test"]) {
    assert.equal(await server.statusOf({ origin }), 200, origin);
  }
  assert.equal(await server.statusOf({ host: "app.example.com" }), 403);
  assert.equal(await server.statusOf({ origin: "https://other.test" }), 403);
});

Deno.test("localCallers() refuses an entry that would never match", () => {
  const bad = {
    SUPASWARM_ALLOWED_HOSTS: ["other.test:54321", "http://other.test", "*"],
    SUPASWARM_ALLOWED_ORIGINS: ["app.example.com", "https://app.example.com/", "*", "null"],
  };
  for (const [name, entries] of Object.entries(bad)) {
    for (const entry of entries) {
      assert.throws(() => localCallers({ [name]: entry }), { code: "CONFIG_INVALID" }, entry);
    }
  }
});
