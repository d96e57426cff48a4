import { missingScopes, scopesOf } from "../../tool_contracts/tool_scopes.ts";
import { externalServerOf } from "./external_server.ts";
import type { ToolServerPorts } from "../kinds/open_tool_server.ts";
import type { ServerStatus, ServerSummary } from "../../tool_contracts/server_tools.ts";
import type { ToolCaller } from "../../tool_contracts/tool_caller.ts";
import type { RegisteredServer, UsableServer } from "../../tool_contracts/tool_records.ts";

/** The active servers with at least one tool that the caller may use; contacts none of them. */
export async function listCallableServers(
  caller: ToolCaller,
  ports: ToolServerPorts,
): Promise<readonly ServerSummary[]> {
  const rows = await ports.store.usableServers(caller, null);
  const summaries = await Promise.all(rows.map(async ({ server, scopes }) => {
    try {
      const callable = await callableTools(server, { granted: scopes, caller }, ports);
      return callable === 0 ? [] : [summaryOf(server, callable)];
    } catch (error) {
      // An unusable row does not hide the others.
      ports.log("warn", "tool.row_unusable", { server: server.tool.slug, error: String(error) });
      return [];
    }
  }));
  return summaries.flat();
}

/** The number of tools that the caller may call; null if they have not been listed yet. */
async function callableTools(
  server: UsableServer,
  { granted, caller }: {
    readonly granted: readonly string[] | null;
    readonly caller: ToolCaller;
  },
  { loadInternalServer }: ToolServerPorts,
): Promise<number | null> {
  const internal = await loadInternalServer(server.tool);
  if (internal?.isForTasksOnly === true && caller.taskId === null) return 0;
  const ofTools = internal === null
    ? server.tool_scopes
    : internal.tools.map(({ scopes }) => scopes);
  const needed = ofTools.map((own) => scopesOf(server.tool, own));
  const isUnlisted = internal === null && server.tools_listed_at === null;
  const ofServer = internal === null ? scopesOf(server.tool, []) : [];
  if (missingScopes(ofServer, granted).length > 0) return 0;
  if (isUnlisted) return null;
  return needed.filter((scopes) => missingScopes(scopes, granted).length === 0).length;
}

/** A server as shown to a caller. */
export function summaryOf(
  server: Omit<UsableServer, "tool_scopes" | "user_id">,
  toolCount: number | null,
): ServerSummary {
  const { tool, breaker, retry_at: retryAt } = server;
  const status: ServerStatus = breaker === "closed" ? server.health : "open";
  return {
    slug: tool.slug,
    name: tool.name,
    description: tool.description,
    type: tool.type,
    connectionId: server.connection_id,
    status,
    retryAt: status === "open" ? isoOf(retryAt) : null,
    failureCount: server.failure_count,
    lastSuccessAt: isoOf(server.last_success_at),
    listedAt: isoOf(server.tools_listed_at),
    toolCount,
    external: externalServerOf(tool),
  };
}

function isoOf(at: RegisteredServer["retry_at"]): string | null {
  return at === null ? null : new Date(at).toISOString();
}
