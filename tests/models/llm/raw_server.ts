/** A request that arrived. */
export interface RawRequest {
  readonly headers: string;
  readonly body: string;
}

/** A server with exactly the bytes of a test, HTTP or not. */
export interface RawServer {
  readonly origin: string;
  readonly requests: readonly RawRequest[];
  /** The number of connections that the client has closed. */
  readonly closedCount: () => number;
  stop(): Promise<void>;
}

/** Sends the answer's bytes on an accepted connection; `requestNumber` starts at 1. */
export type RawAnswer = (connection: Deno.TcpConn, requestNumber: number) => Promise<void> | void;

/**
 * Listens on a free loopback port and passes each request's connection to `answer`. Afterwards it
 * waits for the client to close, unless `answer` has already closed it.
 */
export function startRawServer(answer: RawAnswer): RawServer {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const requests: RawRequest[] = [];
  const connections = new Set<Deno.TcpConn>();
  const serving: Promise<void>[] = [];
  let closed = 0;
  const serve = async (connection: Deno.TcpConn) => {
    connections.add(connection);
    requests.push(await readRequest(connection));
    await answer(connection, requests.length);
    await connection.read(new Uint8Array(1));
    closed++;
  };
  const accepting = (async () => {
    for await (const connection of listener) {
      serving.push(serve(connection).catch(() => {}).finally(() => close(connection)));
    }
  })();
  return {
    origin: `http://127.0.0.1:${listener.addr.port}`,
    requests,
    closedCount: () => closed,
    stop: async () => {
      listener.close();
      connections.forEach(close);
      await Promise.all([accepting, ...serving]);
    },
  };
}

/** Writes a complete HTTP answer. */
export async function respond(
  connection: Deno.TcpConn,
  answer: {
    readonly status?: number;
    readonly headers?: Record<string, string>;
    readonly body: string;
  },
): Promise<void> {
  const { status = 200, headers = {}, body } = answer;
  const length = new TextEncoder().encode(body).length;
  const lines = Object.entries({
    "content-type": "application/json",
    "content-length": String(length),
    "connection": "close",
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  await send(connection, `HTTP/1.1 ${status} Status\r\n${lines.join("")}\r\n${body}`);
}

/** Starts a chunked stream of server-sent events and writes these; the stream stays open. */
export async function beginStream(
  connection: Deno.TcpConn,
  events: readonly string[],
): Promise<void> {
  await send(
    connection,
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n" +
      "connection: close\r\n\r\n",
  );
  for (const event of events) {
    const size = new TextEncoder().encode(event).length.toString(16);
    await send(connection, `${size}\r\n${event}\r\n`);
  }
}

/** Ends a chunked stream properly. */
export async function endStream(connection: Deno.TcpConn): Promise<void> {
  await send(connection, "0\r\n\r\n");
}

/** Closes a connection, even one that is already closed. */
export function close(connection: Deno.TcpConn): void {
  try {
    connection.close();
  } catch (error) {
    if (!(error instanceof Deno.errors.BadResource)) throw error;
  }
}

async function send(connection: Deno.TcpConn, text: string): Promise<void> {
  let rest = new TextEncoder().encode(text);
  while (rest.length > 0) rest = rest.subarray(await connection.write(rest));
}

async function readRequest(connection: Deno.TcpConn): Promise<RawRequest> {
  const decoder = new TextDecoder();
  const buffer = new Uint8Array(65_536);
  let text = "";
  while (true) {
    const count = await connection.read(buffer);
    if (count === null) throw new Error("The client closed before its request was complete");
    text += decoder.decode(buffer.subarray(0, count), { stream: true });
    const end = text.indexOf("\r\n\r\n");
    if (end < 0) continue;
    const headers = text.slice(0, end);
    const body = text.slice(end + 4);
    const length = Number(/content-length: *(\d+)/i.exec(headers)?.[1] ?? "0");
    if (new TextEncoder().encode(body).length >= length) return { headers, body };
  }
}
