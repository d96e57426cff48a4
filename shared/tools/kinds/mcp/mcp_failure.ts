import { z } from "../../../vendor/zod.js";
import { SwarmError } from "../../../errors/swarm_error.ts";
import type { JsonObject } from "../../../json.ts";
import { jsonObject } from "../../../json_schema.ts";
import { mayHaveBeenSent } from "../../../net/fetch_failure.ts";
import { type Credential, refusedCredential } from "../../../tool_contracts/credential.ts";
import { authorizationRequired } from "../../../tool_contracts/authorization_required.ts";
import { rateLimited, temporarilyUnavailable } from "../http/http_answer.ts";
import { noConnection } from "../http/no_connection.ts";
import type { ServerAnswer } from "../../../tool_contracts/tool_server.ts";
import { asksMore } from "../../../tool_contracts/assert_can_be_asked.ts";
import type { RequestTrace } from "./mcp_fetch.ts";

/** A failed request to an MCP server, with what is known of it. */
export interface McpFailure {
  readonly server: string;
  readonly credential: Credential | null;
  readonly error: unknown;
  readonly trace: RequestTrace;
  /** The call carried the state of an earlier `input_required`. */
  readonly isRetry?: boolean;
}

/** JSON-RPC's code for parameters the method cannot take; MCP's for an unknown tool too. */
const INVALID_PARAMS = -32602;
/** MCP's for a client that has not declared what the server must ask it. */
const CAPABILITY_MISSING = -32021;
/** As servers of the earlier protocol say it. */
const RESOURCE_NOT_FOUND = -32002;
/** Statuses that send a request elsewhere before it has run; 303 is the answer of one that has. */
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 307, 308]);
/** Statuses after which a request may have reached the server behind. */
const DOUBTFUL_STATUSES: ReadonlySet<number> = new Set([500, 502, 504]);

/**
 * Reads a failure as the answer of a call.
 *
 * @throws SwarmError when the call has certainly not run.
 */
export function answerOfFailure(failure: McpFailure): ServerAnswer {
  const { server, error, trace } = failure;
  if (trace.tooLarge !== null) {
    const { message, hint } = trace.tooLarge;
    return answeredError("OUTPUT_TOO_LARGE", `${message}. ${hint ?? ""}`);
  }
  const rpcError = toRpcError(error);
  if (rpcError !== null) return answerOfRpcError(rpcError, failure.isRetry === true);
  throwRefusal(failure);
  if (asksForInput(error)) {
    return answeredError("TOOL_FAILED", `'${server}' asks for input that an agent cannot give`);
  }
  const isDoubtful = trace.status === null
    ? mayHaveBeenSent(trace.failure ?? error)
    : trace.status < 400 || DOUBTFUL_STATUSES.has(trace.status);
  if (!isDoubtful) throw unavailable(failure);
  const message = `The tool server '${server}' gave no answer that can be read (${how(trace)})`;
  const originalError = error instanceof Error ? error.message : String(error);
  return { kind: "lost", cause: "connection", message, originalError };
}

/** Reads a failure to connect or to list tools, when nothing can have run, as the error to report. */
export function errorOfFailure(failure: McpFailure): SwarmError {
  try {
    throwRefusal(failure);
  } catch (refusal) {
    if (refusal instanceof SwarmError) return refusal;
  }
  return failure.trace.tooLarge ?? unavailable(failure);
}

/** What a server or the guard said in so many words, as its error. */
function throwRefusal({ server, credential, trace }: McpFailure): void {
  if (trace.failure instanceof SwarmError) throw trace.failure;
  if (trace.status === 401 && credential === null && offersOAuth(trace.headers)) {
    throw authorizationRequired(server);
  }
  if (trace.status === 401 || trace.status === 403) {
    throw refusedCredential(server, trace.status, credential);
  }
  if (trace.status !== null && REDIRECTS.has(trace.status)) throw redirected(server);
  if (trace.status === 429) throw rateLimited(server, trace.headers);
  if (trace.status === 503 && trace.headers.has("retry-after")) {
    throw temporarilyUnavailable(server, trace.headers);
  }
}

/** The challenge of a protected resource (RFC 9728): a user can authorise us there. */
function offersOAuth(headers: Headers): boolean {
  return /^(bearer|dpop)\s.*\bresource_metadata=/i.test(headers.get("www-authenticate") ?? "");
}

function redirected(server: string): SwarmError {
  return new SwarmError(
    "TOOL_ADDRESS_FORBIDDEN",
    `The tool server '${server}' redirects to another address, which is not followed`,
    { hint: "Register the address that it redirects to in mcp_url." },
  );
}

function unavailable({ server, error, trace }: McpFailure): SwarmError {
  if (trace.status === null && trace.failure !== undefined && !mayHaveBeenSent(trace.failure)) {
    const hint = "Try again later, or check mcp_url in the tool's config.";
    return noConnection(`the tool server '${server}'`, hint, error);
  }
  return new SwarmError(
    "TOOL_UNAVAILABLE",
    `The tool server '${server}' cannot be used now (${how(trace)})`,
    { hint: "Try again later, or check mcp_url in the tool's config.", cause: error },
  );
}

function how({ status, failure }: RequestTrace): string {
  if (status === null) return failure === undefined ? "no answer" : "no connection";
  return status < 400 ? "not the Model Context Protocol, or broken off" : `HTTP ${status}`;
}

function answerOfRpcError({ code, message, data }: RpcError, isRetry: boolean): ServerAnswer {
  if (code === CAPABILITY_MISSING) throw asksMore(requiredCapabilities(data));
  if (code === INVALID_PARAMS && isRetry) return answeredError("TOOL_STATE_INVALID", message);
  if (code !== INVALID_PARAMS) return answeredError("TOOL_FAILED", message);
  const isUnknownTool = /unknown tool|tool\b.*\b(not found|unknown)/i.test(message);
  const errorCode = isUnknownTool ? "TOOL_NOT_FOUND" : "TOOL_ARGUMENTS_INVALID";
  return { ...answeredError(errorCode, message), isDefinitionStale: true };
}

function answeredError(
  errorCode:
    | "TOOL_FAILED"
    | "TOOL_NOT_FOUND"
    | "TOOL_ARGUMENTS_INVALID"
    | "TOOL_STATE_INVALID"
    | "OUTPUT_TOO_LARGE",
  text: string,
) {
  return { kind: "answered", text, isError: true, errorCode } as const;
}

/** Whether the server ran and wants to ask what the caller cannot be asked. */
export function asksMoreOf(error: unknown): boolean {
  return toRpcError(error)?.code === CAPABILITY_MISSING;
}

/** The error that a server answered a request for something beside tools with. */
export function errorOfRelay(failure: McpFailure): SwarmError {
  const rpcError = toRpcError(failure.error);
  if (rpcError === null) return errorOfFailure(failure);
  const { code, message, data } = rpcError;
  if (code === CAPABILITY_MISSING) return asksMore(requiredCapabilities(data));
  if (code === RESOURCE_NOT_FOUND || code === INVALID_PARAMS) {
    return new SwarmError("RESOURCE_NOT_FOUND", `'${failure.server}' refuses: ${message}`, {
      hint: "List what it has.",
    });
  }
  return new SwarmError("TOOL_FAILED", `'${failure.server}' reports an error: ${message}`);
}

interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data: unknown;
}

function requiredCapabilities(data: unknown): JsonObject {
  const parsed = z.object({ requiredCapabilities: jsonObject }).safeParse(data);
  return parsed.success ? parsed.data.requiredCapabilities : {};
}

/** The error a server answered by JSON-RPC; the SDK's own errors have codes that are words. */
function toRpcError(error: unknown): RpcError | null {
  if (!(error instanceof Error) || !("code" in error)) return null;
  if (typeof error.code !== "number") return null;
  return {
    code: error.code,
    message: error.message,
    data: "data" in error ? error.data : undefined,
  };
}

/** The stateless protocol lets a server ask back; nobody is there to answer. */
function asksForInput(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "UNSUPPORTED_RESULT_TYPE";
}
