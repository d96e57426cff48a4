/** An endpoint of the Model Context Protocol with the tool that is timed. */
export interface McpEndpoint {
  /** Calls the tool, which takes that long. @throws Error when it does not answer with a result. */
  call(workMs: number): Promise<void>;
}

/** Its tool: works for `ms` milliseconds. */
export const TOOL = "work";

const METHOD = "tools/call";
/** The version of the protocol that is spoken. */
export const PROTOCOL = "2026-07-28";
/** What every request has in `_meta`. */
export const ENVELOPE = {
  "io.modelcontextprotocol/protocolVersion": PROTOCOL,
  "io.modelcontextprotocol/clientCapabilities": {},
  "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1" },
};

/** The endpoint at an address, for a caller with these headers. */
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
