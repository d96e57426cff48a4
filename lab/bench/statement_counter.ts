/** A way to a database that counts the statements. */
export interface StatementCounter extends AsyncDisposable {
  readonly url: string;
  /** Statements so far, those that begin and end transactions too. */
  readonly count: number;
}

const SSL_REQUEST = 80877103;
const TYPE_BYTES = 1;
const LENGTH_BYTES = 4;
/** A whole text, or the execution of a bound statement. */
const STATEMENT_TYPES = ["Q", "E"].map((type) => type.charCodeAt(0));

/** Counts what clients send to a database on their way. For connections without TLS. */
export function startStatementCounter(databaseUrl: string): StatementCounter {
  const target = new URL(databaseUrl);
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const stop = new AbortController();
  const { signal } = stop;
  let count = 0;

  async function forward(client: Deno.Conn): Promise<void> {
    const server = await Deno.connect({ hostname: target.hostname, port: Number(target.port) });
    const counted = new TransformStream(countStatements(() => count++));
    // A connection ends with an error when the isolate is killed.
    await Promise.allSettled([
      client.readable.pipeThrough(counted).pipeTo(server.writable, { signal }),
      server.readable.pipeTo(client.writable, { signal }),
    ]);
  }

  const accepting = (async () => {
    for await (const client of listener) void forward(client);
  })();
  const url = new URL(databaseUrl);
  url.hostname = "127.0.0.1";
  url.port = String(listener.addr.port);
  return {
    url: url.href,
    get count() {
      return count;
    },
    async [Symbol.asyncDispose]() {
      listener.close();
      stop.abort();
      await accepting;
    },
  };
}

/** Passes the messages of a client on. @param onStatement Called for each statement. */
export function countStatements(onStatement: () => void): Transformer<Uint8Array, Uint8Array> {
  let rest = new Uint8Array();
  let hasStarted = false;
  return {
    transform(chunk, controller) {
      controller.enqueue(chunk);
      rest = concat(rest, chunk);
      for (;;) {
        const typeBytes = hasStarted ? TYPE_BYTES : 0;
        if (rest.length < typeBytes + LENGTH_BYTES) return;
        const view = new DataView(rest.buffer, rest.byteOffset);
        const end = typeBytes + view.getInt32(typeBytes);
        if (rest.length < end) return;
        if (hasStarted && STATEMENT_TYPES.includes(view.getUint8(0))) onStatement();
        // The first message has no type; a question for TLS may come before it.
        if (!hasStarted) hasStarted = view.getInt32(LENGTH_BYTES) !== SSL_REQUEST;
        rest = rest.slice(end);
      }
    },
  };
}

function concat(one: Uint8Array<ArrayBuffer>, other: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(one.length + other.length);
  both.set(one);
  both.set(other, one.length);
  return both;
}
