/** Servers that a wrong address may reach. */
export interface RefusingServers extends AsyncDisposable {
  /** A port of this machine on which nothing listens. */
  readonly closedPort: number;
  /** A port of a web server that is no Supabase project: it answers everything with a page. */
  readonly websitePort: number;
  /** A port of a project that refuses each key. */
  readonly keylessPort: number;
  /** A port of a Postgres server that refuses each password. */
  readonly loginPort: number;
  /** A port of a server that never answers. */
  readonly silentPort: number;
}

/** Starts them on free ports of 127.0.0.1. */
export function startRefusingServers(): RefusingServers {
  const website = serve(() =>
    new Response("<!doctype html><title>A shop</title>", {
      headers: { "content-type": "text/html" },
    })
  );
  const keyless = serve(() =>
    Response.json({ message: "Invalid API key", hint: "Double check your API key." }, {
      status: 401,
    })
  );
  const login = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const refusing = refuseLogins(login);
  const silent = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const holding = holdConnections(silent);
  const closed = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const closedPort = closed.addr.port;
  closed.close();
  return {
    closedPort,
    websitePort: website.addr.port,
    keylessPort: keyless.addr.port,
    loginPort: login.addr.port,
    silentPort: silent.addr.port,
    async [Symbol.asyncDispose]() {
      login.close();
      silent.close();
      await Promise.all([refusing, holding, website.shutdown(), keyless.shutdown()]);
    },
  };
}

function serve(answer: () => Response): Deno.HttpServer<Deno.NetAddr> {
  return Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, answer);
}

async function holdConnections(listener: Deno.Listener): Promise<void> {
  const connections: Deno.Conn[] = [];
  for await (const connection of listener) connections.push(connection);
  for (const connection of connections) connection.close();
}

/** The code of a request for TLS, which Postgres answers with one letter. */
const TLS_REQUEST = 80877103;

async function refuseLogins(listener: Deno.Listener): Promise<void> {
  for await (const connection of listener) {
    refuseLogin(connection).catch(() => {}).finally(() => {
      try {
        connection.close();
      } catch {
        // The client has closed it.
      }
    });
  }
}

async function refuseLogin(connection: Deno.Conn): Promise<void> {
  const message = new Uint8Array(1_024);
  const count = await connection.read(message) ?? 0;
  if (count >= 8 && new DataView(message.buffer).getInt32(4) === TLS_REQUEST) {
    await connection.write(new TextEncoder().encode("N"));
    await connection.read(message);
  }
  await connection.write(errorResponse({
    S: "FATAL",
    V: "FATAL",
    C: "28P01",
    M: 'password authentication failed for user "postgres"',
  }));
}

function errorResponse(fields: Readonly<Record<string, string>>): Uint8Array<ArrayBuffer> {
  const text = Object.entries(fields).map(([type, value]) => `${type}${value}\0`).join("") + "\0";
  const body = new TextEncoder().encode(text);
  const bytes = new Uint8Array(5 + body.length);
  bytes[0] = "E".charCodeAt(0);
  new DataView(bytes.buffer).setInt32(1, 4 + body.length);
  bytes.set(body, 5);
  return bytes;
}
