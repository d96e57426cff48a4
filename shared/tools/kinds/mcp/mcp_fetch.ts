import type { SwarmError } from "../../../errors/swarm_error.ts";
import { ANSWER_LIMITS, type JsonLimits } from "../../../json/json_limits.ts";
import { capBody } from "../../../net/cap_body.ts";
import { guardJson } from "../../../net/guard_json.ts";
import { NO_SESSION } from "./no_session.ts";
import { applyCredential, type Credential } from "../../../tool_contracts/credential.ts";

/** Most bytes of one answer that are read; a stream holds many events beside the result. */
const MAX_ANSWER_BYTES = ANSWER_LIMITS.bytes;

/** What happened to the last request; the SDK's own errors do not tell it all. */
export interface RequestTrace {
  /** Of the answer, if there was one. */
  status: number | null;
  headers: Headers;
  /** What `fetch` rejected with. */
  failure: unknown;
  /** Set when the answer was larger, deeper or wider than is read. */
  tooLarge: SwarmError | null;
}

/** A trace before anything was sent. */
export function emptyTrace(): RequestTrace {
  return { status: null, headers: new Headers(), failure: undefined, tooLarge: null };
}

/** How requests to an MCP server are sent. */
export interface McpFetchOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  /** Each goes to its place, a later one over an earlier one. */
  readonly secrets: readonly Credential[];
  /** Guarded against private addresses. */
  readonly fetch: typeof fetch;
  /** Of each answer. @default ANSWER_LIMITS */
  readonly limits?: JsonLimits;
}

/** The form of `fetch` that the MCP transport calls. */
export type McpFetch = (input: string | URL, init?: RequestInit) => Promise<Response>;

/**
 * The `fetch` that the MCP transport uses: it adds the configured headers, query and secrets,
 * measures the answer before the SDK parses it and keeps the trace. The standing stream (GET) that the earlier protocol offers
 * is declined on the spot, since nobody listens to it between calls.
 */
export function createMcpFetch(options: McpFetchOptions, trace: RequestTrace): McpFetch {
  return async (input, init = {}) => {
    if ((init.method ?? "GET") === "GET") return new Response(null, { status: 405 });
    Object.assign(trace, emptyTrace());
    const url = new URL(input);
    for (const [name, value] of Object.entries(options.query)) url.searchParams.set(name, value);
    const headers = new Headers(options.headers);
    new Headers(init.headers).forEach((value, name) => headers.set(name, value));
    if (headers.get("mcp-session-id") === NO_SESSION) headers.delete("mcp-session-id");
    try {
      for (const secret of options.secrets) applyCredential(secret, { url, headers });
      const response = await options.fetch(url, { ...init, headers });
      trace.status = response.status;
      trace.headers = response.headers;
      const refuse = (error: SwarmError) => trace.tooLarge = error;
      const capped = capBody(response, MAX_ANSWER_BYTES, refuse);
      // A page of a proxy that failed is read as text alone.
      return holdsJson(response)
        ? guardJson(capped, options.limits ?? ANSWER_LIMITS, refuse)
        : capped;
    } catch (error) {
      trace.failure = error;
      throw error;
    }
  };
}

function holdsJson({ ok, headers }: Response): boolean {
  return ok || /json|event-stream/.test(headers.get("content-type") ?? "");
}
