import { definedOnly } from "../../platform/values/defined_only.ts";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import { missingScopes, scopesOf } from "../tool_contracts/tool_scopes.ts";
import { callTool } from "./call_tool.ts";
import { externalServerOf } from "./listing/external_server.ts";
import { findTool } from "./find_definition.ts";
import { MAX_LIST_AGE_SECONDS } from "./listing/list_agent_tools.ts";
import type { ToolServerPorts } from "./kinds/open_tool_server.ts";
import { serverFeatures } from "./listing/server_features.ts";
import type { CallTarget } from "../tool_contracts/tool_call.ts";
import type { PreparedCall } from "../tool_contracts/tool_gateway.ts";

/**
 * Looks a call up; permissions are checked when it runs, so that a refusal is recorded.
 *
 * @returns Null if the server's list is missing, old or not for this caller, or has no such tool.
 * @throws SwarmError `DATABASE_UNAVAILABLE`, or for a caller that does not exist.
 */
export async function prepareCall(
  target: CallTarget,
  ports: ToolServerPorts,
): Promise<PreparedCall | null> {
  const startedAtMs = performance.now();
  const { toolName, caller } = target;
  const key = { ...target, isCharged: true, maxAgeSeconds: MAX_LIST_AGE_SECONDS };
  const record = await ports.store.beginCall(key);
  if (record === null || record.cached === null || record.is_due) return null;
  const internal = await ports.loadInternalServer(record.tool);
  if (internal?.isForTasksOnly === true && caller.taskId === null) return null;
  const found = await findTool(record, toolName, ports).catch(noneIfUnknown);
  if (found === null) return null;

  const { definition: { name, version, inputSchema, outputSchema } } = found;
  const scopes = scopesOf(record.tool, found.scopes);
  return {
    server: { ...record.tool, external: externalServerOf(record.tool) },
    features: await serverFeatures(record, ports),
    tool: {
      name,
      version: version ?? record.cached.version,
      inputSchema,
      ...definedOnly({ outputSchema }),
      scopes,
      missingScopes: missingScopes(scopes, record.scopes),
    },
    // By the requested name, which may refer to an older version.
    run: (details, signal) =>
      callTool({ ...details, ...target }, ports, signal, { record, startedAtMs }),
  };
}

/** A cache row may exist longer than its tool. */
function noneIfUnknown(error: unknown): null {
  if (error instanceof SwarmError && error.code === "TOOL_NOT_FOUND") return null;
  throw error;
}
