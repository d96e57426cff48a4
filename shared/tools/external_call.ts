import { type ErrorCode, traitsOf } from "../errors/codes.ts";
import type { EndedCall } from "./call_stages.ts";
import type { ExternalCall } from "../tool_contracts/tool_call.ts";

/** Most characters of an error that are passed on; a stack trace of a server helps nobody. */
export const MAX_ERROR_CHARACTERS = 8_000;
/** Most characters of a server's own words that are passed on. */
const MAX_ORIGINAL_CHARACTERS = 1_000;

/** What a call of somebody else's server failed with. */
export interface ExternalFailure {
  /** Absent when the tool itself reported the error. */
  readonly code?: ErrorCode | undefined;
  /** As the server, or the way to it, put it. */
  readonly words: string;
}

/**
 * What is told of a call because somebody else's server ran it: nothing for any other type of tool.
 * A refusal by the gateway is no error of the server.
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

/** The first words of an error: those of what caused it, where something did. */
export function originalWords(error: Error): string {
  return error.cause instanceof Error ? error.cause.message : error.message;
}
