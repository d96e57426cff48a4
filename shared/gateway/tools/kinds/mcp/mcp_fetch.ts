import type { SwarmError } from "../../../../platform/errors/swarm_error.ts";
import { ANSWER_LIMITS, type JsonLimits } from "../../../../platform/json/json_limits.ts";
import { capBody } from "../../../../platform/net/cap_body.ts";
import { guardJson } from "../../../../platform/net/guard_json.ts";
import { NO_SESSION } from "./no_session.ts";
import { applyCredential, type Credential } from "../../../tool_contracts/credential.ts";

/** Maximum bytes read of one response; a stream has many events besides the result. */
const MAX_ANSWER_BYTES = ANSWER_LIMITS.bytes;

/** The outcome of the last request; the SDK's own errors are incomplete. */
export interface RequestTrace {
  /** Status of the response, if there was one. */
  status: number | null;
  headers: Headers;
  /** The rejection of `fetch`. */
  failure: unknown;
  /** Set if the response exceeded the limits. */
  tooLarge: SwarmError | null;
}

/** A trace before anything was sent. */
export function emptyTrace(): RequestTrace {
  return { status: null, headers: new Headers(), failure: undefined, tooLarge: null };
}

/** Options of requests to an MCP server. */
export interface McpFetchOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  /** Each is placed in the request; a later one replaces an earlier one. */
  readonly secrets: readonly Credential[];
  /** A `fetch` that refuses private addresses. */
  readonly fetch: typeof fetch;
  /** Limits of each response. @default ANSWER_LIMITS */
  readonly limits?: JsonLimits;
}

/** The signature of `fetch` that the MCP transport uses. */
export type McpFetch = (input: string | URL, init?: RequestInit) => Promise<Response>;

/**
 * The `fetch` that the MCP transport uses: it adds the configured headers, query and secrets,
 * limits the response before the SDK parses it and records the trace. The GET stream of the earlier
 * protocol is declined, because nothing listens to it between calls.
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
      // A proxy's error page is only read as text.
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
