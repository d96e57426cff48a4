import { type Credential, isRefusedToken } from "../../tool_contracts/credential.ts";
import type { ToolServer } from "../../tool_contracts/tool_server.ts";

/**
 * Wraps a server so that a request is repeated once with a renewed token if the server rejects a
 * user's access token. A rejected request has not run.
 *
 * @param renew Opens the server with a token newer than the rejected one.
 */
export function withRenewal(
  server: ToolServer,
  credential: Credential | null,
  renew: (refused: Credential) => Promise<ToolServer>,
): ToolServer {
  if (credential?.connection === undefined) return server;
  const ask = async <T>(signal: AbortSignal, use: (server: ToolServer) => Promise<T>) => {
    try {
      return await use(server);
    } catch (error) {
      if (signal.aborted || !isRefusedToken(error)) throw error;
      return await use(await renew(credential));
    }
  };
  const { relay } = server;
  return {
    ...server,
    listTools: (signal) => ask(signal, (current) => current.listTools(signal)),
    callTool: (call, signal) => ask(signal, (current) => current.callTool(call, signal)),
    ...(relay === undefined ? {} : {
      relay: (request, signal) =>
        ask(signal, (current) => (current.relay ?? relay)(request, signal)),
    }),
  };
}
