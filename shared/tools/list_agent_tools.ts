import { toSwarmError } from "../db/to_swarm_error.ts";
import { describeWithKnownGood, newestKnownGood } from "./known_good.ts";
import { modelNames } from "./model_names.ts";
import type { ToolServerPorts } from "./open_tool_server.ts";
import { refreshTools } from "./refresh_tools.ts";
import { isReadOnly, isRepeatable } from "./tool_definition.ts";
import type { AgentTool, AgentToolset, ToolCaller, UnavailableTool } from "./tool_port.ts";
import type { CachedTool, RegisteredServer } from "./tool_store.ts";

/** How long a server's list of tools is taken for current. */
const MAX_LIST_AGE_SECONDS = 600;
/** Servers asked at the same time. */
const CONCURRENT_LISTINGS = 8;

/**
 * What an agent may use now: lists what is not in the cache or too old there. A server that cannot
 * be asked is served from the cache, or reported when there is nothing in it.
 */
export async function listAgentTools(
  caller: ToolCaller,
  ports: ToolServerPorts,
  signal: AbortSignal,
): Promise<AgentToolset> {
  const { agentId, userId } = caller;
  if (agentId === null) return { tools: [], unavailable: [] };
  const servers = await ports.store.agentServers(agentId, userId, MAX_LIST_AGE_SECONDS);
  const stale = servers.filter(({ isStale }) => isStale).map(({ server }) => server);
  const problems: ServerProblem[] = [];
  for (let start = 0; start < stale.length; start += CONCURRENT_LISTINGS) {
    const batch = stale.slice(start, start + CONCURRENT_LISTINGS);
    const found = await Promise.all(
      batch.map((server) => refresh(server, userId, ports, signal)),
    );
    problems.push(...found.flat());
  }
  const cached = await ports.store.agentTools(agentId, userId);
  const cachedServers = new Set(cached.map(({ server }) => server));
  const unavailable = problems
    .filter((problem) => !problem.isWholeServer || !cachedServers.has(problem.server))
    .map(({ server, code, message }): UnavailableTool => ({ server, code, message }));
  return { tools: toAgentTools(cached), unavailable };
}

interface ServerProblem extends UnavailableTool {
  /** Nothing could be listed; else one tool of the server was left out. */
  readonly isWholeServer: boolean;
}

async function refresh(
  server: RegisteredServer,
  userId: string | null,
  ports: ToolServerPorts,
  signal: AbortSignal,
): Promise<ServerProblem[]> {
  const { slug } = server.tool;
  try {
    const dropped = await refreshTools(server, userId, ports, signal);
    return dropped.map(({ name, reason }) => ({
      server: slug,
      code: "TOOL_CONFIG_INVALID",
      message: `The tool '${name}' of '${slug}' is left out: ${reason}`,
      isWholeServer: false,
    }));
  } catch (error) {
    signal.throwIfAborted();
    const { code, message } = toSwarmError(error, `list the tools of '${slug}'`);
    if (code === "DATABASE_UNAVAILABLE") throw error;
    ports.log("warn", "tool.listing_failed", { server: slug, code });
    return [{ server: slug, code, message, isWholeServer: true }];
  }
}

function toAgentTools(cached: readonly CachedTool[]): AgentTool[] {
  const names = modelNames(
    cached.map(({ server, tool_name }) => ({ server, toolName: tool_name })),
  );
  return cached.map((tool, index) => {
    const definition = tool.tool_schema;
    const knownGood = newestKnownGood({
      sets: tool.successful_parameters,
      isShape: tool.is_shape,
      successCount: tool.success_count,
    }, definition.inputSchema);
    const { description, parameters } = tool.openai_schema.function;
    return {
      modelName: names[index] ?? tool.tool_name,
      toolId: tool.tool_id,
      server: tool.server,
      toolName: tool.tool_name,
      description: describeWithKnownGood(description, knownGood),
      inputSchema: parameters,
      isReadOnly: isReadOnly(definition),
      isIdempotent: isRepeatable(definition),
      ...(knownGood === undefined ? {} : { knownGood }),
    };
  });
}
