import { FrameSplitter } from "../../stack/database/wire_frames.ts";

const SYNC = "S".charCodeAt(0);
const QUERY = "Q".charCodeAt(0);

/** A proxy before a database, which counts the statements that wait for an answer. */
export interface CountingProxy extends AsyncDisposable {
  readonly port: number;
  /** The most statements of one connection that waited at the same time. */
  readonly mostWaiting: () => number;
}

/** Starts a proxy for clients that use no TLS. */
export function startCountingProxy(serverPort: number): CountingProxy {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  let most = 0;
  const relay = async (client: Deno.TcpConn) => {
    const server = await Deno.connect({ hostname: "127.0.0.1", port: serverPort });
    let waiting = 0;
    // The answer to the login counts as well.
    const answers = new FrameSplitter({ onNotification: () => {}, onReady: () => waiting-- });
    const requests = createRequestReader(() => most = Math.max(most, ++waiting));
    await Promise.allSettled([
      pipe(client, server, (chunk) => requests(chunk)),
      pipe(server, client, (chunk) => void answers.push(chunk)),
    ]);
  };
  const serving = (async () => {
    for await (const client of listener) void relay(client);
  })();
  return {
    port: listener.addr.port,
    mostWaiting: () => most,
    async [Symbol.asyncDispose]() {
      listener.close();
      await serving;
    },
  };
}

async function pipe(
  from: Deno.TcpConn,
  to: Deno.TcpConn,
  look: (chunk: Uint8Array) => void,
): Promise<void> {
  const writer = to.writable.getWriter();
  try {
    for await (const chunk of from.readable) {
      look(chunk);
      await writer.write(chunk);
    }
  } finally {
    await writer.close().catch(() => {});
  }
}

/** Calls `onRequest` for each message that the server answers with "ready for query". */
function createRequestReader(onRequest: () => void): (chunk: Uint8Array) => void {
  let pending = new Uint8Array();
  let typeBytes = 0; // The first message has no type.
  return (chunk) => {
    pending = new Uint8Array([...pending, ...chunk]);
    while (pending.length >= typeBytes + 4) {
      const end = typeBytes + new DataView(pending.buffer, pending.byteOffset).getInt32(typeBytes);
      if (pending.length < end) return;
      const isAnswered = typeBytes === 0 || pending[0] === SYNC || pending[0] === QUERY;
      // Authentication takes several messages; only the last one is followed by "ready".
      if (isAnswered) onRequest();
      pending = pending.slice(end);
      typeBytes = 1;
    }
  };
}
