import { SwarmError } from "../../../errors/swarm_error.ts";
import type { ToolServer } from "../../../tool_contracts/tool_server.ts";

/**
 * The server with only the tools of its row's `allowed_tools`: no other is listed, and none that is
 * still cached from before is called. A name that the server does not have is reported as dropped.
 */
export function allowOnly(
  server: ToolServer,
  slug: string,
  allowedTools: readonly string[] | undefined,
): ToolServer {
  if (allowedTools === undefined) return server;
  const allowed = new Set(allowedTools);
  return {
    ...server,
    listTools: async (signal) => {
      const { tools, dropped } = await server.listTools(signal);
      const known = new Set([...tools, ...dropped].map(({ name }) => name));
      const missing = [...allowed].filter((name) => !known.has(name)).map((name) => ({
        name,
        reason: "allowed_tools names it, and the server has no such tool",
      }));
      return {
        tools: tools.filter(({ name }) => allowed.has(name)),
        dropped: [...dropped.filter(({ name }) => allowed.has(name)), ...missing],
      };
    },
    callTool: async (call, signal) => {
      const { name } = call.definition;
      if (allowed.has(name)) return await server.callTool(call, signal);
      throw new SwarmError(
        "TOOL_NOT_FOUND",
        `'${name}' of '${slug}' is not among its allowed tools`,
        {
          hint: `Allowed are: ${[...allowed].join(", ")}.`,
        },
      );
    },
  };
}
