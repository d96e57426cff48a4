import type { SwarmError } from "../../../../platform/errors/swarm_error.ts";
import { type JsonLimits, MESSAGE_ANSWER_LIMITS } from "../../../../platform/json/json_limits.ts";
import { capBody } from "../../../../platform/net/cap_body.ts";
import { guardJson } from "../../../../platform/net/guard_json.ts";
import { parseJsonOrUndefined } from "../../../../platform/json/parse_json.ts";
import { asJsonObject, type JsonObject } from "../../../../platform/values/json.ts";
import type { SentRequest } from "./reading/read_message.ts";
import { inUtf8 } from "./reading/in_utf8.ts";
import { readResponse } from "./reading/read_response.ts";
import { NO_SESSION } from "./no_session.ts";
import { applyCredential, type Credential } from "../../../tool_contracts/credential.ts";

/** Maximum bytes read of one response; a stream has many events besides the result. */
const MAX_ANSWER_BYTES = MESSAGE_ANSWER_LIMITS.bytes;

/** The `_meta` key that only requests of the stateless protocol have. */
const PROTOCOL_VERSION_KEY = "io.modelcontextprotocol/protocolVersion";

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
  /** Limits of each response. @default MESSAGE_ANSWER_LIMITS */
  readonly limits?: JsonLimits;
}

/** The signature of `fetch` that the MCP transport uses. */
export type McpFetch = (input: string | URL, init?: RequestInit) => Promise<Response>;

/**
 * The `fetch` that the MCP transport uses: it adds the configured headers, query and secrets,
 * limits the response, reads it for the SDK, which accepts only what the protocol defines, and
 * records the trace. The GET stream of the earlier
 * protocol is declined, because nothing listens to it between calls.
 */
export function createMcpFetch(options: McpFetchOptions, trace: RequestTrace): McpFetch {
  return async (input, init = {}) => {
    if ((init.method ?? "GET") === "GET") return new Response(null, { status: 405 });
    const message = messageOf(init.body);
    // A client cancels a request that failed, whose trace is still to be read.
    const isCancellation = message.method === "notifications/cancelled";
    const current = isCancellation ? emptyTrace() : Object.assign(trace, emptyTrace());
    const url = new URL(input);
    for (const [name, value] of Object.entries(options.query)) url.searchParams.set(name, value);
    const headers = new Headers(options.headers);
    new Headers(init.headers).forEach((value, name) => headers.set(name, value));
    if (headers.get("mcp-session-id") === NO_SESSION) headers.delete("mcp-session-id");
    try {
      for (const secret of options.secrets) applyCredential(secret, { url, headers });
      const response = await options.fetch(url, { ...init, headers });
      current.status = response.status;
      current.headers = response.headers;
      const refuse = (error: SwarmError) => current.tooLarge = error;
      const capped = inUtf8(capBody(response, MAX_ANSWER_BYTES, refuse));
      // A proxy's error page is only read as text.
      const { limits = MESSAGE_ANSWER_LIMITS } = options;
      const guarded = holdsJson(response) ? guardJson(capped, limits, refuse) : capped;
      const sent = sentRequest(message, limits);
      return sent === null ? guarded : await readResponse(guarded, sent);
    } catch (error) {
      current.failure = error;
      throw error;
    }
  };
}

/** The message in a body that the SDK wrote. */
function messageOf(body: RequestInit["body"]): JsonObject {
  if (typeof body !== "string") return {};
  return asJsonObject(parseJsonOrUndefined(body, MESSAGE_ANSWER_LIMITS));
}

/** Null for a notification. */
function sentRequest(message: JsonObject, limits: JsonLimits): SentRequest | null {
  const { id, method, params } = message;
  if (typeof method !== "string") return null;
  if (typeof id !== "string" && typeof id !== "number") return null;
  const isStateless = PROTOCOL_VERSION_KEY in asJsonObject(asJsonObject(params)._meta);
  return { id, method, isStateless, limits };
}

function holdsJson({ ok, headers }: Response): boolean {
  return ok || /json|event-stream/.test(headers.get("content-type") ?? "");
}
