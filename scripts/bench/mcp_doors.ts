import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import { sleep } from "../../shared/sleep.ts";

/** An endpoint of the Model Context Protocol with the tool that is timed. */
export interface McpDoor {
  readonly url: string;
  listTools(): Promise<void>;
  /** Calls the tool, which takes that long. @throws Error when it does not answer with a result. */
  call(workMs: number): Promise<void>;
}

const TOOL = "work";
const PROTOCOL = "2026-07-28";
const ENVELOPE = {
  "io.modelcontextprotocol/protocolVersion": PROTOCOL,
  "io.modelcontextprotocol/clientCapabilities": {},
  "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1" },
};

/** Starts a server on loopback with the one tool. */
export function startToolServer(): AsyncDisposable & { readonly direct: McpDoor } {
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: "timed", version: "1" });
    server.registerTool(TOOL, {
      description: "Works for some time",
      inputSchema: z.object({ ms: z.number() }),
      annotations: { readOnlyHint: true },
    }, async ({ ms }, { mcpReq }) => {
      if (ms > 0) await sleep(ms, mcpReq.signal);
      return { content: [{ type: "text" as const, text: "done" }] };
    });
    return server;
  });
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    (request) => handler.fetch(request),
  );
  return {
    direct: toDoor(`http://127.0.0.1:${server.addr.port}/`, {}),
    async [Symbol.asyncDispose]() {
      await handler.close();
      await server.shutdown();
    },
  };
}

/** The endpoint at an address, for a caller with these headers. */
export function toDoor(url: string, credentials: Readonly<Record<string, string>>): McpDoor {
  async function send(method: string, name: string | null, params: Record<string, unknown>) {
    const response = await fetch(url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": PROTOCOL,
        "mcp-method": method,
        ...(name === null ? {} : { "mcp-name": name }),
        ...credentials,
      },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method,
        params: { ...params, _meta: ENVELOPE },
      }),
    });
    const text = await response.text();
    if (!text.includes('"result"') || text.includes('"isError":true')) throw new Error(text);
  }
  return {
    url,
    listTools: () => send("tools/list", null, {}),
    call: (ms) => send("tools/call", TOOL, { name: TOOL, arguments: { ms } }),
  };
}
