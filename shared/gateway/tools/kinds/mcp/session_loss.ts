import type { Answered } from "../../../tool_contracts/tool_server.ts";
import { type RpcError, toRpcError } from "./mcp_failure.ts";
import type { RequestTrace } from "./mcp_fetch.ts";
import { FORGOTTEN_STATUSES, saysSessionIsLost } from "./reading/lost_session.ts";
import { RPC_CODES } from "./reading/rpc_codes.ts";

/**
 * Whether a server refused a request because it does not know the stored state of the connection;
 * `perhaps` if the tool itself may have failed with the same words after it ran.
 */
export type SessionLoss = "certain" | "perhaps" | "none";

/** Statuses that the protocol has for a session that ended. */
const SESSION_STATUSES: ReadonlySet<number> = new Set([404, 410]);
/** Codes of an error that refers to the whole request rather than to the call in it. */
const REQUEST_CODES: ReadonlySet<number> = new Set([
  RPC_CODES.serverError,
  RPC_CODES.sessionNotFound,
  RPC_CODES.invalidRequest,
  RPC_CODES.methodNotFound,
]);
/** What a server says that has changed to another version of the protocol. */
const NAMES_ENVELOPE = /\b_meta\b|\bprotocol[- ]?version\b/i;

/** A tool's result that says what a server without the session would say. */
export class SessionLostResult extends Error {
  override readonly name = "SessionLostResult";
  readonly answer: Answered;

  constructor(answer: Answered) {
    super("The result says that the session is lost");
    this.answer = answer;
  }
}

/** Reads a failure of a request that relied on the stored state. */
export function sessionLossOf(error: unknown, { status }: RequestTrace): SessionLoss {
  if (error instanceof SessionLostResult) return "perhaps";
  const rpcError = toRpcError(error);
  if (rpcError !== null) return lossOfRpcError(rpcError, status);
  return FORGOTTEN_STATUSES.has(status ?? 0) ? "certain" : "none";
}

function lossOfRpcError({ code, message }: RpcError, status: number | null): SessionLoss {
  const isRefused = SESSION_STATUSES.has(status ?? 0);
  if (saysSessionIsLost(message)) {
    // Without a code or a status of the protocol, a tool may have said so after it ran.
    const isForgotten = FORGOTTEN_STATUSES.has(status ?? 0) && code !== RPC_CODES.internalError;
    return code === RPC_CODES.sessionNotFound || isRefused || isForgotten ? "certain" : "perhaps";
  }
  if (code === RPC_CODES.unsupportedVersion) return "certain";
  if (status === 400 && NAMES_ENVELOPE.test(message)) return "certain";
  // The request as a whole was refused, so that the call in it did not run.
  if (code === RPC_CODES.invalidRequest && FORGOTTEN_STATUSES.has(status ?? 0)) return "certain";
  return isRefused && REQUEST_CODES.has(code) ? "certain" : "none";
}
