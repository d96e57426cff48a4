/** An MCP endpoint with the measured tool. */
export interface McpEndpoint {
  /** Calls the tool, which works for that time. @throws Error when it does not return a result. */
  call(workMs: number): Promise<void>;
}

/** The measured tool, which works for `ms` milliseconds. */
export const TOOL = "work";

const METHOD = "tools/call";
/** The protocol version in use. */
export const PROTOCOL = "2026-07-28";
/** `_meta` of every request. */
export const ENVELOPE = {
  "io.modelcontextprotocol/protocolVersion": PROTOCOL,
  "io.modelcontextprotocol/clientCapabilities": {},
  "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1" },
};

/** Creates an endpoint for an address and the caller's headers. */
export function toEndpoint(
  url: string,
  credentials: Readonly<Record<string, string>>,
): McpEndpoint {
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": PROTOCOL,
    "mcp-method": METHOD,
    "mcp-name": TOOL,
    ...credentials,
  };
  return {
    async call(workMs) {
      const params = { name: TOOL, arguments: { ms: workMs }, _meta: ENVELOPE };
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: METHOD, params });
      const response = await fetch(url, { method: "POST", headers, body });
      const text = await response.text();
      if (!text.includes('"result"') || text.includes('"isError":true')) throw new Error(text);
    },
  };
}
