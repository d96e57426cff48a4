/** One request that the server received, with its body read. */
export interface SeenHttpRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Headers;
  readonly body: string;
}

/** A plain HTTP server on loopback. */
export interface HttpFixture {
  readonly url: string;
  readonly seen: SeenHttpRequest[];
  stop(): Promise<void>;
}

/** Starts a server whose responses `answer` returns. */
export function startHttpServer(
  answer: (request: SeenHttpRequest) => Response | Promise<Response>,
): HttpFixture {
  const seen: SeenHttpRequest[] = [];
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      const { method, headers } = request;
      const entry = { method, headers, url: new URL(request.url), body: await request.text() };
      seen.push(entry);
      return await answer(entry);
    },
  );
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    seen,
    stop: () => server.shutdown(),
  };
}

/** A response that breaks off in the middle. */
export function brokenAnswer(): Response {
  const broken = new ReadableStream({
    pull(controller) {
      controller.enqueue(new TextEncoder().encode('{"half":'));
      controller.error(new Error("broken off on purpose"));
    },
  });
  return new Response(broken, { headers: { "content-type": "application/json" } });
}
