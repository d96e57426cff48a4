import { SwarmError } from "../errors/swarm_error.ts";
import type { InternalContext, InternalServer } from "../mcp/internal_server.ts";
import { withDeadline } from "./deadline.ts";
import type { ServerAnswer, ToolServer } from "./tool_server.ts";

/** What an internal server is opened with. */
export interface InternalToolsOptions {
  readonly server: InternalServer;
  readonly timeoutMs: number;
  readonly context: Omit<InternalContext, "signal">;
}

/** An internal server behind the port that all tool servers share. */
export function openInternalTools(options: InternalToolsOptions): ToolServer {
  const { server, timeoutMs, context } = options;
  return {
    listTools: () => Promise.resolve({ tools: server.listTools(), dropped: [] }),
    async callTool(call, signal): Promise<ServerAnswer> {
      const timed = await withDeadline(
        timeoutMs,
        signal,
        (deadline) => server.callTool(call, { ...context, signal: deadline }),
      );
      if (timed.kind === "done") return timed.value;
      const message = `The tool server '${server.name}' gave no answer within ${timeoutMs} ms`;
      return { kind: "lost", cause: "timeout", message };
    },
  };
}

/** The error for a `config.server` that names no internal server. */
export function unknownInternalServer(name: string, known: readonly string[]): SwarmError {
  return new SwarmError("TOOL_CONFIG_INVALID", `There is no internal tool server '${name}'`, {
    hint: `Set config.server to one of: ${known.join(", ")}.`,
  });
}
