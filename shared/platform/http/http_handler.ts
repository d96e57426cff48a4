import { SwarmError } from "../errors/swarm_error.ts";
import type { Logger } from "../log/logger.ts";
import { errorResponse } from "./error_response.ts";

/** The context of a request. */
export interface HttpContext {
  /** Appears in the response's `x-request-id` and in the log. */
  readonly requestId: string;
  /** On the clock of `performance.now()`: before the request waited for its turn. */
  readonly arrivedAtMs: number;
}

/** Lets requests start while the isolate has CPU for them. */
export interface RequestGate {
  /**
   * Runs `answer` when its turn comes. Callers take turns if the request is given. A request ends with its response, or with the last event of a
   * response that streams.
   *
   * @throws ENDPOINT_BUSY if the isolate cannot finish it, or not soon.
   */
  admit(answer: () => Promise<Response>, request?: Request): Promise<Response>;
}

/** The accepted methods, the logger and the gate of a handler. */
export interface HttpOptions {
  readonly methods: readonly string[];
  /** Refuses requests that the isolate has no CPU for. @default all requests start */
  readonly gate?: RequestGate;
  /** Runs before the handler; throws a `SwarmError` while the function cannot serve requests. */
  readonly ready?: () => Promise<void>;
  readonly log: Logger;
}

/** Responds to one request; throws a `SwarmError` to refuse it. */
export type HttpHandler = (request: Request, context: HttpContext) => Promise<Response>;

/**
 * Wraps a handler with the common behavior of all endpoints: preflight, method check, request id,
 * CORS headers, and the error envelope for exceptions.
 */
export function createHttpHandler(
  options: HttpOptions,
  handle: HttpHandler,
): (request: Request) => Promise<Response> {
  return async (request) => {
    if (request.method === "OPTIONS") return preflightResponse(request, options.methods);
    const requestId = requestIdOf(request);
    const response = await answer(request, { requestId, arrivedAtMs: performance.now() });
    response.headers.set("x-request-id", requestId);
    if (response.status === 405) response.headers.set("allow", options.methods.join(", "));
    for (const [name, value] of CORS_HEADERS) response.headers.set(name, value);
    return response;
  };

  async function answer(request: Request, context: HttpContext): Promise<Response> {
    try {
      checkMethod(request, options.methods);
      const run = async () => {
        await options.ready?.();
        return await handle(request, context);
      };
      return await (options.gate?.admit(run, request) ?? run());
    } catch (error) {
      return errorResponse(error, { log: options.log, requestId: context.requestId });
    }
  }
}

function checkMethod(request: Request, methods: readonly string[]): void {
  if (methods.includes(request.method)) return;
  throw new SwarmError(
    "METHOD_NOT_ALLOWED",
    `Cannot answer the request: this endpoint does not support ${request.method}`,
    {
      hint: `Use ${methods.join(" or ")}.`,
      details: { allowed: [...methods] },
    },
  );
}

function requestIdOf(request: Request): string {
  const given = request.headers.get("x-request-id") ?? "";
  return /^[\w.-]{8,64}$/.test(given) ? given : crypto.randomUUID();
}

/**
 * Headers of every response. Any origin may call: callers are authenticated by token or key, never
 * by cookie, so a foreign page gains nothing.
 */
const CORS_HEADERS: ReadonlyMap<string, string> = new Map([
  ["access-control-allow-origin", "*"],
  [
    "access-control-expose-headers",
    "x-request-id, retry-after, www-authenticate, mcp-session-id, mcp-protocol-version",
  ],
]);

const REQUEST_HEADERS = [
  "authorization",
  "x-client-info",
  "apikey",
  "content-type",
  "accept",
  "x-request-id",
  "x-retry-count",
  "traceparent",
  "tracestate",
  // The Model Context Protocol's own.
  "mcp-protocol-version",
  "mcp-method",
  "mcp-name",
  "mcp-session-id",
  "last-event-id",
];
/** Headers that mirror a tool's arguments; the tool defines their names. */
const ARGUMENT_HEADER = /^mcp-param-[\w-]{1,64}$/i;

/** Responds to a browser's preflight request. */
function preflightResponse(request: Request, methods: readonly string[]): Response {
  const asked = request.headers.get("access-control-request-headers") ?? "";
  const argumentHeaders = asked.split(",").map((name) => name.trim())
    .filter((name) => ARGUMENT_HEADER.test(name));
  return new Response(null, {
    status: 204,
    headers: {
      ...Object.fromEntries(CORS_HEADERS),
      "access-control-allow-methods": [...methods, "OPTIONS"].join(", "),
      "access-control-allow-headers": [...REQUEST_HEADERS, ...argumentHeaders].join(", "),
      "access-control-max-age": "86400",
      vary: "access-control-request-headers",
    },
  });
}
