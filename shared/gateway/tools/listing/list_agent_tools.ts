import { definedOnly } from "../../../platform/values/defined_only.ts";
import type { SwarmError } from "../../../platform/errors/swarm_error.ts";
import { dataFlowsOf } from "../../tool_contracts/data_flows_of.ts";
import { modelNames } from "../../../models/tool_schemas/model_names.ts";
import { describeWithShape, newestKnownGood } from "../learning/known_good.ts";
import type { ToolServerPorts } from "../kinds/open_tool_server.ts";
import { KNOWN_WAIT_MS, renewInTime } from "./renew_in_time.ts";
import { notListedYet, storedError } from "./renew_listing.ts";
import { descriptionOf, isReadOnly, isRepeatable } from "../../tool_contracts/tool_definition.ts";
import type { AgentTool, AgentToolset, UnavailableTool } from "../../tool_contracts/agent_tool.ts";
import type { ToolCaller } from "../../tool_contracts/tool_caller.ts";
import type { AgentServer } from "../../tool_contracts/tool_store.ts";
import type { CachedTool } from "../../tool_contracts/tool_records.ts";

/** How long a server's list of tools counts as current. */
export const MAX_LIST_AGE_SECONDS = 600;
/** How long an agent waits for the first list of a server. */
const FIRST_WAIT_MS = 8_000;

/**
 * The tools that an agent may use now. Missing or outdated lists are renewed for all servers in
 * parallel. If a server is slow, the agent starts with the cached list while the renewal continues;
 * if a server is unreachable, its cached list is used, or the server is reported if there is none.
 */
export async function listAgentTools(
  caller: ToolCaller,
  ports: ToolServerPorts,
  signal: AbortSignal,
): Promise<AgentToolset> {
  const { agentId, userId, taskId } = caller;
  if (agentId === null) return { tools: [], unavailable: [] };
  const servers = await ports.store.agentServers(caller, MAX_LIST_AGE_SECONDS);
  const problems = await Promise.all(
    servers.map((server) => problemsOf(server, userId, ports, signal)),
  );
  const cached = await ports.store.agentTools(caller);
  const cachedServers = new Set(cached.map(({ server }) => server));
  const unavailable = problems.flat()
    .filter((problem) => !problem.isWholeServer || !cachedServers.has(problem.server))
    .map(({ server, code, message }): UnavailableTool => ({ server, code, message }));
  if (taskId !== null && unavailable.length > 0) {
    await ports.store.reportAbsent(taskId, unavailable);
  }
  return { tools: toAgentTools(cached), unavailable };
}

interface ServerProblem extends UnavailableTool {
  /** True if nothing could be listed; otherwise one tool of the server was omitted. */
  readonly isWholeServer: boolean;
}

async function problemsOf(
  { server, isDue }: AgentServer,
  userId: string | null,
  ports: ToolServerPorts,
  signal: AbortSignal,
): Promise<ServerProblem[]> {
  const { slug } = server.tool;
  if (!isDue) {
    return server.listing_error === null
      ? []
      : [wholeServer(slug, storedError(server.listing_error))];
  }
  const waitMs = server.tools_listed_at === null ? FIRST_WAIT_MS : KNOWN_WAIT_MS;
  const renewal = await renewInTime(server, userId, ports, { waitMs, signal });
  switch (renewal.kind) {
    case "renewed":
      return renewal.dropped.map(({ name, is_part: isPart = false, reason }) => ({
        server: slug,
        code: "TOOL_CONFIG_INVALID",
        message: `The tool '${name}' of '${slug}' is ${isPart ? "" : "omitted: "}${reason}`,
        isWholeServer: false,
      }));
    case "busy":
      return [wholeServer(slug, notListedYet(slug))];
    case "failed":
      return [wholeServer(slug, renewal.error)];
  }
}

function wholeServer(server: string, { code, message }: SwarmError): ServerProblem {
  return { server, code, message, isWholeServer: true };
}

function toAgentTools(cached: readonly CachedTool[]): AgentTool[] {
  const names = modelNames(
    cached.map(({ server, tool_name }) => ({ server, toolName: tool_name })),
  );
  return cached.map((tool, index) => {
    const definition = tool.tool_schema;
    const learned = {
      sets: tool.successful_parameters,
      isShape: tool.is_shape,
      successCount: tool.success_count,
    };
    const knownGood = newestKnownGood(learned, definition.inputSchema);
    return {
      modelName: names[index] ?? tool.tool_name,
      toolId: tool.tool_id,
      server: tool.server,
      toolName: tool.tool_name,
      description: describeWithShape(descriptionOf(definition), tool.parameter_shape),
      inputSchema: definition.inputSchema,
      isReadOnly: isReadOnly(definition),
      isIdempotent: isRepeatable(definition),
      dataFlows: dataFlowsOf({
        server: tool.server,
        type: tool.tool_type,
        definition,
        stated: tool.data_flows,
      }),
      destination: tool.destination,
      successCount: tool.success_count,
      ...definedOnly({ knownGood }),
    };
  });
}
