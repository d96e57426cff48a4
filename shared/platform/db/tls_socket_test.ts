import assert from "node:assert/strict";
import { createSocketOpener } from "./tls_socket.ts";

Deno.test("prefer reports once that it continues without TLS", async () => {
  await using server = startBrokenTls();
  const reports: string[] = [];
  const open = createSocketOpener("prefer", (reason) => reports.push(reason));
  const target = { host: ["127.0.0.1"], port: [server.port], path: false } as const;

  for (let n = 0; n < 2; n++) {
    const socket = await open(target);
    const echo = new Promise((resolve) => socket.once("data", (data) => resolve(String(data))));
    socket.write("plain");
    assert.equal(await echo, "plain");
    socket.destroy();
  }

  assert.equal(reports.length, 1, reports.join());
  assert.notEqual(reports[0], "");
});

/** Offers TLS and then breaks off the handshake; without TLS it echoes. */
function startBrokenTls(): AsyncDisposable & { readonly port: number } {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const serving = (async () => {
    for await (const connection of listener) await answer(connection).catch(() => {});
  })();
  return {
    port: (listener.addr as Deno.NetAddr).port,
    async [Symbol.asyncDispose]() {
      listener.close();
      await serving;
    },
  };
}

async function answer(connection: Deno.Conn): Promise<void> {
  using _closing = connection;
  const bytes = new Uint8Array(1_024);
  const count = await connection.read(bytes) ?? 0;
  const isTlsRequest = count === 8 && bytes[4] === 4;
  await connection.write(isTlsRequest ? new TextEncoder().encode("S") : bytes.subarray(0, count));
  await connection.read(bytes);
}
