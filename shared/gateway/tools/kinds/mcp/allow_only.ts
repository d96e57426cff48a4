import { SwarmError } from "../../../../platform/errors/swarm_error.ts";
import type { ToolServer } from "../../../tool_contracts/tool_server.ts";

/**
 * Wraps the server so that only the tools in its row's `allowed_tools` are listed and called, even
 * if others are still cached. A name that the server does not have is reported as dropped.
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
        reason: "allowed_tools names it, but the server has no such tool",
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
        `Cannot call '${name}' of '${slug}': it is not in allowed_tools`,
        {
          hint: `Allowed tools: ${[...allowed].join(", ")}.`,
        },
      );
    },
  };
}
