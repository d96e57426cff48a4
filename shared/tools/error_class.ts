import { ERROR_CODES, type ErrorCode } from "../errors/codes.ts";
import type { ToolErrorClass } from "../tool_contracts/tool_call.ts";

/** Most characters of an error that are passed on; a stack trace of a server helps nobody. */
export const MAX_ERROR_CHARACTERS = 8_000;

/** What a failed call's code is about; no code: the tool itself reported the error. */
export function errorClassOf(code: ErrorCode | undefined): ToolErrorClass {
  switch (code) {
    case undefined:
    case "TOOL_FAILED":
    case "EXCEEDED_RETRIES":
      return "tool";
    case "TOOL_ARGUMENTS_INVALID":
    case "TOOL_DEFINITION_CHANGED":
    case "TOOL_NOT_FOUND":
      return "schema";
    case "TOOL_AUTH_FAILED":
    case "CALLER_REQUIRED":
    case "SECRET_NOT_FOUND":
    case "SECRET_INVALID":
      return "auth";
    case "TOOL_OUTCOME_UNKNOWN":
    case "TOOL_UNAVAILABLE":
      return "transport";
    case "OUTPUT_TOO_LARGE":
    case "TOOL_ADDRESS_FORBIDDEN":
    case "TOOL_ASKS_MORE":
    case "TOOL_CONFIG_INVALID":
    case "TOOL_STATE_INVALID":
      return "protocol";
    default:
      return classOfStatus(ERROR_CODES[code].status);
  }
}

function classOfStatus(status: number): ToolErrorClass {
  if (status === 401 || status === 403) return "auth";
  if (status === 429) return "rate";
  if (status === 504) return "timeout";
  return status === 502 || status === 503 ? "transport" : "tool";
}

/** With these the gateway refuses a call or could not make it; with all others the tool has run. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "AUTHORIZATION_REQUIRED",
  "CREDENTIAL_REQUIRED",
  "INSUFFICIENT_SCOPE",
  "TOOL_AUTH_FAILED",
  "TOOL_DEFINITION_CHANGED",
  "TOOL_FORBIDDEN",
  "TOOL_NOT_FOUND",
  "TOOL_RATE_LIMITED",
  "TOOL_TIMEOUT",
  "TOOL_UNAVAILABLE",
]);

/** The HTTP status with which a door that speaks plain JSON answers a call that ended so. */
export function httpStatusOf(code: ErrorCode | undefined): number {
  if (code === undefined) return 200;
  const { status } = ERROR_CODES[code];
  // A conflict that a tool declares is HTTP's, too: clients retry on it with a newer version.
  return REFUSALS.has(code) || status === 409 ? status : 200;
}
