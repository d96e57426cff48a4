import { z } from "../../../../vendor/zod.js";
import { SwarmError } from "../../../../platform/errors/swarm_error.ts";
import type { JsonObject } from "../../../../platform/values/json.ts";
import { jsonObject } from "../../../../platform/values/json_schema.ts";
import { mayHaveBeenSent } from "../../../../platform/net/fetch_failure.ts";
import { type Credential, refusedCredential } from "../../../tool_contracts/credential.ts";
import { authorizationRequired } from "../../../tool_contracts/authorization_required.ts";
import { rateLimited, temporarilyUnavailable } from "../http/http_answer.ts";
import { noConnection } from "../http/no_connection.ts";
import type { ServerAnswer } from "../../../tool_contracts/tool_server.ts";
import { asksMore } from "../../../tool_contracts/assert_can_be_asked.ts";
import type { RequestTrace } from "./mcp_fetch.ts";
import { withHint } from "../../../../platform/errors/with_hint.ts";
import { RPC_CODES } from "./reading/rpc_codes.ts";

/** A failed request to an MCP server, with its details. */
export interface McpFailure {
  readonly server: string;
  readonly credential: Credential | null;
  readonly error: unknown;
  readonly trace: RequestTrace;
  /** The call carried the state of an earlier `input_required`. */
  readonly isRetry?: boolean;
}

/** Redirects of a request that has not run; 303 follows a request that has run. */
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 307, 308]);
/** Statuses of a proxy after which the request may have reached the server. */
const DOUBTFUL_STATUSES: ReadonlySet<number> = new Set([500, 502, 504]);

/**
 * Converts a failure to the answer of a call.
 *
 * @throws SwarmError if the call has certainly not run.
 */
export function answerOfFailure(failure: McpFailure): ServerAnswer {
  const { server, error, trace } = failure;
  if (trace.tooLarge !== null) {
    const { message, hint } = trace.tooLarge;
    return answeredError("OUTPUT_TOO_LARGE", withHint(message, hint));
  }
  const rpcError = toRpcError(error);
  if (rpcError !== null) return answerOfRpcError(rpcError, failure.isRetry === true);
  throwRefusal(failure);
  if (asksForInput(error)) {
    return answeredError("TOOL_FAILED", `'${server}' requests input that an agent cannot provide`);
  }
  const isDoubtful = trace.status === null
    ? mayHaveBeenSent(trace.failure ?? error)
    : trace.status < 400 || DOUBTFUL_STATUSES.has(trace.status);
  if (!isDoubtful) throw unavailable(failure);
  const message = `The tool server '${server}' ${doubtful(trace)}`;
  const originalError = error instanceof Error ? error.message : String(error);
  return { kind: "lost", cause: "connection", message, originalError };
}

/**
 * Converts a failure to connect or to list tools, when nothing can have run, to the error to
 * report.
 */
export function errorOfFailure(failure: McpFailure): SwarmError {
  try {
    throwRefusal(failure);
  } catch (refusal) {
    if (refusal instanceof SwarmError) return refusal;
  }
  return failure.trace.tooLarge ?? unavailable(failure);
}

/** Throws the explicit error of a server or the guard. */
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

/** The challenge of a protected resource (RFC 9728): a user can authorize this project there. */
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
    `The tool server '${server}' is not available now (${how(trace)}${codeOf(error)})`,
    { hint: "Try again later, or check mcp_url in the tool's config.", cause: error },
  );
}

/** What is known of a call that may have run. */
function doubtful(trace: RequestTrace): string {
  if (trace.status === null) return "closed the connection before it answered";
  return trace.status < 400
    ? `returned an unreadable response (${how(trace)})`
    : `answered with an error (${how(trace)})`;
}

function how({ status, failure }: RequestTrace): string {
  if (status === null) return failure === undefined ? "no answer" : "no connection";
  return status < 400 ? "not the Model Context Protocol, or cut off" : `HTTP ${status}`;
}

/** The code of a server's own error. Its words are left out, because they may repeat a secret. */
function codeOf(error: unknown): string {
  const rpcError = toRpcError(error);
  return rpcError === null ? "" : `, JSON-RPC error ${rpcError.code}`;
}

function answerOfRpcError({ code, message, data }: RpcError, isRetry: boolean): ServerAnswer {
  if (code === RPC_CODES.capabilityMissing) throw asksMore(requiredCapabilities(data));
  if (code === RPC_CODES.invalidParams && isRetry) {
    return answeredError("TOOL_STATE_INVALID", message);
  }
  if (code !== RPC_CODES.invalidParams) return answeredError("TOOL_FAILED", message);
  const isUnknownTool = /unknown tool|tool\b.{0,100}\b(not found|unknown)/i.test(message);
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

/** Whether the server requires input that the caller cannot provide. */
export function asksMoreOf(error: unknown): boolean {
  return toRpcError(error)?.code === RPC_CODES.capabilityMissing;
}

/** Converts a failed resource or prompt request to the error to report. */
export function errorOfRelay(failure: McpFailure): SwarmError {
  const rpcError = toRpcError(failure.error);
  if (rpcError === null) return errorOfFailure(failure);
  const { code, message, data } = rpcError;
  if (code === RPC_CODES.capabilityMissing) return asksMore(requiredCapabilities(data));
  if (code === RPC_CODES.resourceNotFound || code === RPC_CODES.invalidParams) {
    return new SwarmError(
      "RESOURCE_NOT_FOUND",
      `'${failure.server}' refused the request: ${message}`,
      {
        hint: "List its resources or prompts.",
      },
    );
  }
  return new SwarmError("TOOL_FAILED", `'${failure.server}' reported an error: ${message}`);
}

/** A JSON-RPC error. */
export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data: unknown;
}

function requiredCapabilities(data: unknown): JsonObject {
  const parsed = z.object({ requiredCapabilities: jsonObject }).safeParse(data);
  return parsed.success ? parsed.data.requiredCapabilities : {};
}

/** The JSON-RPC error of a server; the SDK's own errors have string codes. */
export function toRpcError(error: unknown): RpcError | null {
  if (!(error instanceof Error) || !("code" in error)) return null;
  if (typeof error.code !== "number") return null;
  return {
    code: error.code,
    message: error.message,
    data: "data" in error ? error.data : undefined,
  };
}

/** The stateless protocol lets a server request input, but an agent cannot provide it. */
function asksForInput(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "UNSUPPORTED_RESULT_TYPE";
}
