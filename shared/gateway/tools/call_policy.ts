import { byteLength } from "../../platform/values/byte_length.ts";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import { insufficientScope, missingScopes } from "../tool_contracts/tool_scopes.ts";
import type { ToolCallRequest } from "../tool_contracts/tool_call.ts";
import type { CallRecord } from "../tool_contracts/tool_records.ts";

/**
 * Admits or refuses a call by the agent's grant, then scopes, then the policy, then the rate limit.
 *
 * @param needed The scopes of the tool; see `scopesOf`.
 * @throws SwarmError `TOOL_FORBIDDEN`, `INSUFFICIENT_SCOPE`, `TOOL_RATE_LIMITED`.
 */
export function assertMayCall(
  record: CallRecord,
  toolName: string,
  needed: readonly string[],
): void {
  const { slug } = record.tool;
  if (!record.is_granted) throw forbidden(toolName, slug, "agent_tools");
  const missing = missingScopes(needed, record.scopes);
  if (missing.length > 0) throw insufficientScope(`call '${toolName}' of '${slug}'`, missing);
  assertPolicyAllows(record, toolName);
}

/**
 * Checks a request to a server against the policy and its rate limit.
 *
 * @throws SwarmError `TOOL_FORBIDDEN`, `TOOL_RATE_LIMITED`.
 */
export function assertPolicyAllows(
  { tool: { slug }, is_allowed: isAllowed, retry_after_ms: retryAfterMs }: Pick<
    CallRecord,
    "tool" | "is_allowed" | "retry_after_ms"
  >,
  asked: string,
): void {
  if (!isAllowed) throw forbidden(asked, slug, "mcp_policies");
  if (retryAfterMs > 0) throw ownRateLimit(asked, slug, retryAfterMs);
}

/**
 * Checks the arguments of a call against the policy's limit.
 *
 * @throws SwarmError `TOOL_INPUT_TOO_LARGE`
 */
export function assertInputFits(
  { tool: { slug }, max_input_bytes: maxBytes }: CallRecord,
  { toolName, arguments: args }: Pick<ToolCallRequest, "toolName" | "arguments">,
): void {
  if (maxBytes === null) return;
  const inputBytes = byteLength(JSON.stringify(args));
  if (inputBytes <= maxBytes) return;
  throw new SwarmError(
    "TOOL_INPUT_TOO_LARGE",
    `Cannot call '${toolName}' of '${slug}': its arguments have ${inputBytes} bytes, but the ` +
      `limit is ${maxBytes}`,
    {
      hint: "Send less input in one call; mcp_policies sets the limit.",
      details: { input_bytes: inputBytes, max_input_bytes: maxBytes },
    },
  );
}

function forbidden(toolName: string, slug: string, table: string): SwarmError {
  return new SwarmError(
    "TOOL_FORBIDDEN",
    `Cannot use '${toolName}' of '${slug}': it is not allowed here`,
    {
      hint: `Use another tool, or ask for it to be allowed in ${table}.`,
    },
  );
}

function ownRateLimit(toolName: string, slug: string, retryAfterMs: number): SwarmError {
  const retryAfterSeconds = Math.ceil(retryAfterMs / 1_000);
  return new SwarmError(
    "TOOL_RATE_LIMITED",
    `Cannot call '${toolName}' of '${slug}' now: its rate limit is reached`,
    {
      hint: `Try again in ${retryAfterSeconds} seconds; mcp_policies sets the limit.`,
      retryAfterSeconds,
      details: { retry_after_ms: retryAfterMs },
    },
  );
}
