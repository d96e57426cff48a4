import { definedOnly } from "../../platform/values/defined_only.ts";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import type { JsonObject } from "../../platform/values/json.ts";
import { featureOf } from "./kinds/internal/relay_internal.ts";
import type { Redactor } from "../../platform/secrets/redact.ts";
import { assertPolicyAllows } from "./call_policy.ts";
import { insufficientScope, missingScopes, scopesOf } from "../tool_contracts/tool_scopes.ts";
import { assertNotOpen } from "./assert_reachable.ts";
import { MAX_ERROR_CHARACTERS } from "./external_call.ts";
import { openToolServer, type ToolServerPorts } from "./kinds/open_tool_server.ts";
import type { RelayRequest } from "../tool_contracts/tool_gateway.ts";
import { inputOf } from "../tool_contracts/tool_server.ts";
import type { UsableServer } from "../tool_contracts/tool_records.ts";
import { unknownServer } from "../tool_contracts/unknown_server.ts";

/**
 * Forwards a request for resources or prompts to a server and returns the answer without secrets.
 * The policies of the server apply, those of its tools do not.
 *
 * @throws SwarmError `TOOL_NOT_FOUND`, `INSUFFICIENT_SCOPE`, `TOOL_FORBIDDEN`, `TOOL_RATE_LIMITED`,
 * `RESOURCE_NOT_FOUND`, `TOOL_…`.
 */
export async function relay(
  request: RelayRequest,
  ports: ToolServerPorts,
  signal: AbortSignal,
): Promise<JsonObject> {
  const { caller, method, params } = request;
  const [row] = await ports.store.usableServers(caller, request.server);
  if (row === undefined) throw unknownServer(request.server);
  const { server, scopes: granted } = row;
  const needed = await scopesNeeded(server, request, ports);
  const missing = missingScopes(needed, granted);
  if (missing.length > 0) throw insufficientScope(`${method} of '${request.server}'`, missing);

  const userId = server.user_id;
  const record = await ports.store.beginRelay(server.tool.id, userId);
  assertPolicyAllows(record, method);
  assertNotOpen(record);
  const opened = await openToolServer(
    record,
    { userId, caller, timeoutMs: record.timeout_ms },
    ports,
  );
  if (opened.server.relay === undefined) {
    throw new SwarmError(
      "RESOURCE_NOT_FOUND",
      `Cannot answer the request: '${request.server}' has no resources or prompts`,
    );
  }
  // Gets the redactor only afterwards, because a token may be renewed during the request.
  try {
    const { timeoutMs } = opened;
    const input = inputOf(request);
    const asked = { method, params, input, caller: { ...caller, userId }, timeoutMs };
    const answer = await opened.server.relay(asked, signal);
    return await opened.redactor().jsonInTurns(answer) as JsonObject;
  } catch (error) {
    throw error instanceof SwarmError ? await redacted(error, opened.redactor()) : error;
  }
}

/** A server's message may repeat the credential that it received. */
async function redacted(error: SwarmError, redactor: Redactor): Promise<SwarmError> {
  const { code, message, hint, details, retryAfterSeconds, cause } = error;
  return new SwarmError(code, redactor.head(message, MAX_ERROR_CHARACTERS), {
    cause,
    ...(hint === undefined ? {} : { hint: await redactor.textInTurns(hint) }),
    ...(details === undefined ? {} : { details: await redactor.jsonInTurns(details) }),
    ...definedOnly({ retryAfterSeconds }),
  });
}

async function scopesNeeded(
  { tool }: UsableServer,
  { method, params }: RelayRequest,
  { loadInternalServer }: ToolServerPorts,
): Promise<readonly string[]> {
  const internal = await loadInternalServer(tool);
  const own = internal === null ? [] : featureOf(internal, { method, params })?.scopes ?? [];
  return scopesOf(tool, own);
}
