import { SwarmError } from "../../shared/platform/errors/swarm_error.ts";
import { type LocalCallers, serveLocally } from "../local_callers.ts";

/** How long requests may run after the server is stopped. Then they are aborted. */
const STOP_GRACE_MS = 2_000;

/** A listening server. Requests wait until a handler is set. */
export interface GatewayHttpServer {
  readonly url: string;
  handle(handler: (request: Request) => Promise<Response>): void;
  stop(): Promise<void>;
}

/**
 * Listens on loopback, for callers of this machine.
 *
 * @param port 0 takes any free port.
 * @throws SwarmError CONFIG_INVALID when the port is in use.
 */
export function openHttpServer(port: number, callers: LocalCallers): GatewayHttpServer {
  const handler = Promise.withResolvers<(request: Request) => Promise<Response>>();
  const aborting = new AbortController();
  const active = new Set<Promise<void>>();
  let isStopping = false;

  async function answer(request: Request, { completed }: Deno.ServeHandlerInfo): Promise<Response> {
    if (isStopping) return new Response("The server is stopping", { status: 503 });
    const ended = completed.catch(() => {}).finally(() => active.delete(ended));
    active.add(ended);
    return (await handler.promise)(request);
  }

  const server = serve({ port, callers, signal: aborting.signal }, answer);
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    handle: handler.resolve,
    stop: async () => {
      isStopping = true;
      const grace = Promise.withResolvers<void>();
      const timer = setTimeout(grace.resolve, STOP_GRACE_MS);
      await Promise.race([Promise.all(active), grace.promise]);
      clearTimeout(timer);
      // Not `shutdown()`, which waits for open connections and cannot be aborted.
      aborting.abort();
      await server.finished;
    },
  };
}

function serve(
  options: { readonly port: number; readonly callers: LocalCallers; readonly signal: AbortSignal },
  handler: (request: Request, info: Deno.ServeHandlerInfo) => Promise<Response>,
): Deno.HttpServer<Deno.NetAddr> {
  try {
    return serveLocally({ ...options, compresses: true }, handler);
  } catch (cause) {
    if (!(cause instanceof Deno.errors.AddrInUse)) throw cause;
    throw new SwarmError(
      "CONFIG_INVALID",
      `Cannot serve on port ${options.port}: it is already in use`,
      {
        hint: "Choose another port with --port, or --port 0 for any free port.",
        cause,
      },
    );
  }
}
