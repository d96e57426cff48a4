/** An MCP server on loopback. */
export interface ServedMcp extends AsyncDisposable {
  readonly url: string;
}

/** Serves an MCP handler on any free port, until it is disposed of. */
export function serveMcp(
  handler: {
    fetch(request: Request): Response | Promise<Response>;
    close(): Promise<void>;
  },
): ServedMcp {
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    (request) => handler.fetch(request),
  );
  return {
    url: `http://127.0.0.1:${server.addr.port}/`,
    async [Symbol.asyncDispose]() {
      await handler.close();
      await server.shutdown();
    },
  };
}
