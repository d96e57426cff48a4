import { SwarmError } from "../errors/swarm_error.ts";
import { mayHaveBeenSent } from "../net/fetch_failure.ts";
import { type Credential, refusedCredential } from "../tools/credential.ts";
import { rateLimited } from "../tools/http_answer.ts";
import type { ServerAnswer } from "../tools/tool_server.ts";
import type { RequestTrace } from "./mcp_fetch.ts";

/** A failed request to an MCP server, with what is known of it. */
export interface McpFailure {
  readonly server: string;
  readonly credential: Credential | null;
  readonly error: unknown;
  readonly trace: RequestTrace;
}

/** JSON-RPC's code for parameters the method cannot take; MCP's for an unknown tool too. */
const INVALID_PARAMS = -32602;
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
  if (rpcError !== null) return answerOfRpcError(rpcError);
  throwRefusal(failure);
  if (asksForInput(error)) {
    return answeredError("TOOL_FAILED", `'${server}' asks for input that an agent cannot give`);
  }
  const isDoubtful = trace.status === null
    ? mayHaveBeenSent(trace.failure ?? error)
    : trace.status < 400 || DOUBTFUL_STATUSES.has(trace.status);
  if (!isDoubtful) throw unavailable(failure);
  const message = `The tool server '${server}' gave no answer that can be read (${how(trace)})`;
  return { kind: "lost", cause: "connection", message };
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
  if (trace.status === 401 || trace.status === 403) {
    throw refusedCredential(server, trace.status, credential);
  }
  if (trace.status === 429) throw rateLimited(server, trace.headers);
}

function unavailable({ server, error, trace }: McpFailure): SwarmError {
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

function answerOfRpcError({ code, message }: RpcError): ServerAnswer {
  if (code !== INVALID_PARAMS) return answeredError("TOOL_FAILED", message);
  const isUnknownTool = /unknown tool|tool\b.*\b(not found|unknown)/i.test(message);
  const errorCode = isUnknownTool ? "TOOL_NOT_FOUND" : "TOOL_ARGUMENTS_INVALID";
  return { ...answeredError(errorCode, message), isDefinitionStale: true };
}

function answeredError(
  errorCode: "TOOL_FAILED" | "TOOL_NOT_FOUND" | "TOOL_ARGUMENTS_INVALID" | "OUTPUT_TOO_LARGE",
  text: string,
) {
  return { kind: "answered", text, isError: true, errorCode } as const;
}

interface RpcError {
  readonly code: number;
  readonly message: string;
}

/** The error a server answered by JSON-RPC; the SDK's own errors have codes that are words. */
function toRpcError(error: unknown): RpcError | null {
  if (!(error instanceof Error) || !("code" in error)) return null;
  return typeof error.code === "number" ? { code: error.code, message: error.message } : null;
}

/** The stateless protocol lets a server ask back; nobody is there to answer. */
function asksForInput(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "UNSUPPORTED_RESULT_TYPE";
}
