/** An answer with its whole body. */
export interface McpAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Sends a request to an endpoint and reads its answer. */
export type SendRequest = (request: RequestInit) => Promise<McpAnswer>;

/** An MCP endpoint with the measured tool. */
export interface McpEndpoint {
  /** Calls the tool, which works for that time. @throws Error when it does not return a result. */
  call(workMs: number): Promise<void>;
  /** Lists the tools. @throws Error when it does not return them. */
  list(): Promise<void>;
  /** How many requests were refused for lack of CPU time, and sent again. */
  readonly refusalCount: number;
}

/** The measured tool, which works for `ms` milliseconds. */
export const TOOL = "work";

/** The protocol version in use. */
export const PROTOCOL = "2026-07-28";
/** `_meta` of every request. */
export const ENVELOPE = {
  "io.modelcontextprotocol/protocolVersion": PROTOCOL,
  "io.modelcontextprotocol/clientCapabilities": {},
  "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1" },
};

const HTTP_BUSY = 503;

/** Creates an endpoint for the caller's headers. It sends refused requests again, as clients must. */
export function toEndpoint(
  send: SendRequest,
  credentials: Readonly<Record<string, string>>,
): McpEndpoint {
  let refusalCount = 0;

  async function ask(method: string, params: object, headers: Readonly<Record<string, string>>) {
    const request = {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": PROTOCOL,
        "mcp-method": method,
        ...headers,
        ...credentials,
      },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method,
        params: { ...params, _meta: ENVELOPE },
      }),
    };
    for (;;) {
      const { status, headers, text } = await send(request);
      const retryAfterSeconds = Number(headers.get("retry-after"));
      if (status !== HTTP_BUSY || !(retryAfterSeconds > 0)) {
        if (text.includes('"result"') && !text.includes('"isError":true')) return;
        throw new Error(text);
      }
      refusalCount++;
      await new Promise((resolve) => setTimeout(resolve, retryAfterSeconds * 1_000));
    }
  }

  return {
    call: (workMs) =>
      ask("tools/call", { name: TOOL, arguments: { ms: workMs } }, { "mcp-name": TOOL }),
    list: () => ask("tools/list", {}, {}),
    get refusalCount() {
      return refusalCount;
    },
  };
}

/** Sends requests to an address. */
export function sendTo(url: string): SendRequest {
  return async (request) => {
    const response = await fetch(url, request);
    const { status, headers } = response;
    return { status, headers, text: await response.text() };
  };
}
