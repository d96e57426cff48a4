/** Bodies up to this size are sent whole, so that the function sees their `content-length`. */
const MAX_WHOLE_BODY_BYTES = 1_048_576;

/** Headers that belong to one connection, not to the message. */
const CONNECTION_HEADERS = ["connection", "keep-alive", "transfer-encoding", "upgrade"];

/** The header with the key of the isolate. Functions do not see it. */
export const ISOLATE_KEY_HEADER = "x-stack-isolate-key";

/** The target of a request. */
export interface ForwardTarget {
  /** The isolate's port on 127.0.0.1. */
  readonly port: number;
  /** The isolate refuses requests without it. */
  readonly key: string;
  /** Path and query for the function: `/<name>/…`. */
  readonly path: string;
  /** Aborts the request, also while the response streams. */
  readonly signal: AbortSignal;
}

/**
 * Forwards a request to an isolate and returns its response. Bodies stream in both directions.
 * Redirects are passed through.
 *
 * @throws The signal's reason, or TypeError when the isolate cannot be reached.
 */
export async function forwardRequest(request: Request, target: ForwardTarget): Promise<Response> {
  const response = await fetch(`http://127.0.0.1:${target.port}${target.path}`, {
    method: request.method,
    headers: forwardedHeaders(request, target.key),
    body: await forwardedBody(request),
    redirect: "manual",
    signal: target.signal,
  });
  const headers = new Headers(response.headers);
  for (const name of CONNECTION_HEADERS) headers.delete(name);
  return new Response(response.body, {
    status: response.status,
    statusText: response.statusText,
    headers,
  });
}

/** Returns the request's headers with the isolate's key and the `x-forwarded-*` headers. */
export function forwardedHeaders(request: Request, key: string): Headers {
  const headers = new Headers(request.headers);
  const url = new URL(request.url);
  for (const name of CONNECTION_HEADERS) headers.delete(name);
  headers.set(ISOLATE_KEY_HEADER, key);
  setIfAbsent(headers, "x-forwarded-host", headers.get("host") ?? url.host);
  setIfAbsent(headers, "x-forwarded-proto", url.protocol.slice(0, -1));
  setIfAbsent(headers, "x-forwarded-port", url.port || (url.protocol === "https:" ? "443" : "80"));
  // Without this, fetch requests compressed responses, which the client may not support.
  setIfAbsent(headers, "accept-encoding", "identity");
  return headers;
}

function setIfAbsent(headers: Headers, name: string, value: string): void {
  if (!headers.has(name)) headers.set(name, value);
}

async function forwardedBody(request: Request): Promise<BodyInit | null> {
  if (request.body === null) return null;
  const length = Number(request.headers.get("content-length") ?? Number.NaN);
  return length <= MAX_WHOLE_BODY_BYTES ? await request.bytes() : request.body;
}
