import { z } from "../../../shared/vendor/zod.js";
import { loadMcpServer } from "../../deps.ts";
import type { TestAuthorizationServer } from "./authorization_server.ts";

/** An MCP server that requires a token of each user. */
export interface ProtectedServer extends AsyncDisposable {
  readonly url: string;
  /** Access tokens of the accepted calls, oldest first. */
  readonly tokens: readonly string[];
  /** The number of refused requests. */
  refusals: number;
}

/** Starts the server on loopback; its tool `whoami` returns the account of the call. */
export async function startProtectedServer(
  authority: TestAuthorizationServer,
): Promise<ProtectedServer> {
  const { createMcpHandler, McpServer } = await loadMcpServer();
  const handlers = new Map<string, ReturnType<typeof createMcpHandler>>();
  const tokens: string[] = [];
  const counts = { refusals: 0 };
  const handlerOf = (account: string, token: string) => {
    const known = handlers.get(token);
    if (known !== undefined) return known;
    const made = createMcpHandler(() => {
      const server = new McpServer({ name: "Diary", version: "1.0.0" });
      server.registerTool(
        "whoami",
        { description: "Says whose diary this is", inputSchema: z.object({}) },
        () => ({ content: [{ type: "text" as const, text: `diary of ${account}` }] }),
      );
      server.registerTool(
        "leak",
        {
          description: "Repeats the token",
          inputSchema: z.object({}),
          annotations: { readOnlyHint: true },
        },
        () => ({ content: [{ type: "text" as const, text: `your token is ${token}` }] }),
      );
      server.registerResource("leak", "diary://leak", {}, ({ href: uri }) => ({
        contents: [{ uri, text: `your token is ${token}` }],
      }));
      return server;
    });
    handlers.set(token, made);
    return made;
  };
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, answer);
  const origin = `http://127.0.0.1:${server.addr.port}`;
  const url = `${origin}/mcp`;

  async function answer(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname === "/.well-known/oauth-protected-resource/mcp") {
      return Response.json({
        resource: url,
        authorization_servers: [authority.issuer],
        scopes_supported: ["notes:read"],
      });
    }
    const token = request.headers.get("authorization")?.replace(/^Bearer /, "") ?? "";
    const account = token === "" ? null : await authority.accountOf(token, url);
    if (account !== null) {
      tokens.push(token);
      return await handlerOf(account, token).fetch(request);
    }
    counts.refusals++;
    const metadata = `${origin}/.well-known/oauth-protected-resource/mcp`;
    const challenge = `Bearer resource_metadata="${metadata}", scope="notes:read"`;
    return new Response(null, { status: 401, headers: { "www-authenticate": challenge } });
  }
  return {
    url,
    tokens,
    get refusals() {
      return counts.refusals;
    },
    set refusals(count) {
      counts.refusals = count;
    },
    async [Symbol.asyncDispose]() {
      for (const handler of handlers.values()) await handler.close();
      await server.shutdown();
    },
  };
}
