import { type ErrorCode, traitsOf } from "../../platform/errors/codes.ts";
import type { EndedCall } from "./call_stages.ts";
import type { ExternalCall } from "../tool_contracts/tool_call.ts";

/** Maximum characters of an error that are passed on; a server's stack trace is not useful. */
export const MAX_ERROR_CHARACTERS = 8_000;
/** Maximum characters of a server's original message that are passed on. */
const MAX_ORIGINAL_CHARACTERS = 1_000;

/** The failure of a call to an external server. */
export interface ExternalFailure {
  /** Absent when the tool itself reported the error. */
  readonly code?: ErrorCode | undefined;
  /** The original message of the server or connection. */
  readonly words: string;
}

/**
 * Additional facts about a call to an external server; none for other types of tools. A refusal by
 * the gateway is not an error of the server.
 */
export function externalPart(
  call: EndedCall,
  failure?: ExternalFailure,
): { readonly external?: ExternalCall } {
  if (call.record?.tool.type !== "mcp_server") return {};
  const responseTimeMs = Math.round(performance.now() - call.startedAtMs);
  if (failure === undefined || !isFromServer(call, failure.code)) {
    return { external: { responseTimeMs } };
  }
  const originalError = call.redactor.head(failure.words, MAX_ORIGINAL_CHARACTERS);
  return { external: { responseTimeMs, originalError } };
}

function isFromServer({ contact }: EndedCall, code: ErrorCode | undefined): boolean {
  const { origin } = traitsOf(code);
  return origin === "server" || (origin === "either" && contact === "answered");
}

/** The original message of an error: that of its cause, if there is one. */
export function originalWords(error: Error): string {
  return error.cause instanceof Error ? error.cause.message : error.message;
}
