import { ISOLATE_KEY_HEADER } from "./forward_request.ts";
import type { IsolateActivity } from "./isolate_activity.ts";

/** How long a loaded function may take to call `Deno.serve`. */
const SERVE_GRACE_MS = 2_000;

/** Answers when a handler throws. The function's log gets the error with file and line. */
function reportFailure(error: unknown): Response {
  // deno-lint-ignore no-console -- the function's console is its log
  console.error(error);
  return new Response("Internal Server Error", { status: 500 });
}

/** Dependencies of {@linkcode EdgeServer}. */
export interface EdgeServerPorts {
  readonly activity: IsolateActivity;
  /** Called once, with the port on 127.0.0.1 and the key that requests to it must have. */
  readonly onListen: (port: number, key: string) => void;
}

/**
 * Serves a function's requests on a free loopback port. The function's code calls `Deno.serve(…)`
 * or has `export default { fetch }`.
 */
export class EdgeServer {
  readonly #ports: EdgeServerPorts;
  readonly #nativeServe = Deno.serve;
  readonly #natives = new WeakMap<Request, Request>();
  readonly #listening = Promise.withResolvers<void>();
  /** Only the gateway knows it, so that no page and no other program can send requests. */
  readonly #key = crypto.randomUUID();
  #isServing = false;

  constructor(ports: EdgeServerPorts) {
    this.#ports = ports;
  }

  /** Replaces `Deno.serve`. Ignores the function's address, and uses its handler and `onError`. */
  readonly serve = ((...args: unknown[]) => {
    if (this.#isServing) throw new Deno.errors.AddrInUse("An edge function serves once");
    const { handler, options } = readServeArguments(args);
    this.#isServing = true;
    const { onError, signal } = options;
    return this.#nativeServe({
      // Imports no helper from `shared/`: isolates may read only this folder and their own project.
      onError: onError ?? reportFailure,
      ...(signal === undefined ? {} : { signal }),
      hostname: "127.0.0.1",
      port: 0,
      automaticCompression: false,
      onListen: (address: Deno.NetAddr) => {
        this.#ports.onListen(address.port, this.#key);
        this.#listening.resolve();
        options.onListen?.(address);
      },
    }, this.#track(handler));
  }) as typeof Deno.serve;

  /** Returns the server's original request for a request that the handler received. */
  readonly nativeRequest = (request: Request): Request => this.#natives.get(request) ?? request;

  /** Serves a module's default export if it has a `fetch` and nothing is served yet. */
  serveDefaultExport(exported: unknown): void {
    if (this.#isServing || !hasFetch(exported)) return;
    this.serve((request) => exported.fetch(request));
  }

  /**
   * Resolves when the function serves.
   *
   * @throws TypeError when it does not serve shortly after its code has loaded.
   */
  async listening(name: string): Promise<void> {
    const timer = setTimeout(() => {
      this.#listening.reject(
        new TypeError(`${name} neither calls Deno.serve nor exports default { fetch }`),
      );
    }, SERVE_GRACE_MS);
    await this.#listening.promise.finally(() => clearTimeout(timer));
  }

  #track(handler: Deno.ServeHandler): Deno.ServeHandler {
    return async (native, info) => {
      if (native.headers.get(ISOLATE_KEY_HEADER) !== this.#key) {
        return new Response("Send requests to the API of the project", { status: 403 });
      }
      const done = this.#ports.activity.begin();
      info.completed.then(done, done);
      const request = asClientSentIt(native);
      this.#natives.set(request, native);
      return await handler(request, info);
    };
  }
}

type ServeOptions = Deno.ServeTcpOptions & { readonly handler?: Deno.ServeHandler };

/** `Deno.serve` takes its handler first, last, or as an option. */
function readServeArguments(
  args: readonly unknown[],
): { handler: Deno.ServeHandler; options: ServeOptions } {
  const handlers = args.filter((arg) => typeof arg === "function");
  const options = (args.find((arg) => typeof arg === "object" && arg !== null) ??
    {}) as ServeOptions;
  const handler = (handlers[0] as Deno.ServeHandler | undefined) ?? options.handler;
  if (handler === undefined) throw new TypeError("Deno.serve was called without a handler");
  return { handler, options };
}

function hasFetch(
  exported: unknown,
): exported is { fetch(request: Request): Response | Promise<Response> } {
  return typeof exported === "object" && exported !== null && "fetch" in exported &&
    typeof exported.fetch === "function";
}

/** Replaces the isolate's address in the request with the address that the client used. */
function asClientSentIt(native: Request): Request {
  const host = native.headers.get("x-forwarded-host");
  if (host === null) return native;
  const url = new URL(native.url);
  url.host = host;
  const request = new Request(url, native);
  request.headers.set("host", host);
  request.headers.delete(ISOLATE_KEY_HEADER);
  request.headers.delete("transfer-encoding");
  return request;
}
