import { z } from "../../../shared/vendor/zod.js";
import { loadMcpServer } from "../../deps.ts";
import { type ServedMcp, serveMcp } from "./serve_mcp.ts";

/** An external server that uses everything that is passed through. */
export interface ExternalServer extends ServedMcp {
  /** `authorization` and `apikey` of every request. */
  readonly credentials: readonly string[];
  /** The number of running and aborted calls of `wait`. */
  readonly waits: { running: number; aborted: number };
}

/** Starts the server on loopback. */
export async function startExternalServer(): Promise<ExternalServer> {
  const { createMcpHandler } = await loadMcpServer();
  const credentials: string[] = [];
  const waits = { running: 0, aborted: 0 };
  const handler = createMcpHandler(() => build(waits));
  const served = serveMcp({
    fetch(request) {
      for (const name of ["authorization", "apikey"]) {
        const value = request.headers.get(name);
        if (value !== null) credentials.push(value);
      }
      return handler.fetch(request);
    },
    close: () => handler.close(),
  });
  return { ...served, credentials, waits };
}

async function build(waits: ExternalServer["waits"]) {
  const { inputRequired, McpServer, ResourceTemplate } = await loadMcpServer();
  const server = new McpServer({ name: "Notes", version: "3.2.1" }, {
    instructions: "Look before you write.",
  });
  server.registerTool("picture", {
    description: "Draws a picture",
    inputSchema: z.object({ of: z.string() }),
    annotations: { readOnlyHint: true },
  }, ({ of }) => ({
    content: [
      { type: "text" as const, text: `a ${of}` },
      { type: "image" as const, data: "iVBORw0KGgo=", mimeType: "image/png" },
    ],
    structuredContent: { of },
    _meta: { "com.example/seed": 7 },
  }));
  server.registerTool("region", {
    description: "Says where it ran",
    inputSchema: z.object({ region: z.string().meta({ "x-mcp-header": "Region" }) }),
    annotations: { readOnlyHint: true },
  }, ({ region }) => ({ content: [{ type: "text" as const, text: region }] }));
  server.registerTool("fail", {
    description: "Reports an error of its own",
    inputSchema: z.object({}),
  }, () => ({ isError: true, content: [{ type: "text" as const, text: "No ink left" }] }));
  server.registerTool("ask", {
    description: "Asks for a name",
    inputSchema: z.object({}),
  }, () =>
    inputRequired({
      inputRequests: {
        name: inputRequired.elicit({
          message: "Who are you?",
          requestedSchema: { type: "object", properties: { name: { type: "string" } } },
        }),
      },
    }));
  server.registerTool("wait", {
    description: "Waits until it is broken off, telling how long it has",
    inputSchema: z.object({ seconds: z.number() }),
    annotations: { readOnlyHint: true },
  }, async ({ seconds }, { mcpReq }) => {
    waits.running++;
    const progressToken = mcpReq._meta?.progressToken;
    if (progressToken !== undefined) {
      await mcpReq.notify({
        method: "notifications/progress",
        params: { progressToken, progress: 1, total: 2, message: "waiting" },
      });
    }
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, seconds * 1_000);
      mcpReq.signal.addEventListener("abort", () => {
        waits.aborted++;
        clearTimeout(timer);
        resolve();
      }, { once: true });
    });
    return { content: [{ type: "text" as const, text: "waited" }] };
  });
  server.registerResource("readme", "note://readme", { mimeType: "text/plain" }, (uri) => ({
    contents: [{ uri: uri.href, mimeType: "text/plain", text: "Read me" }],
  }));
  server.registerResource(
    "note",
    new ResourceTemplate("note://by-id/{id}", { list: undefined }),
    { mimeType: "text/plain" },
    (uri, { id }) => ({ contents: [{ uri: uri.href, text: `Note ${id}` }] }),
  );
  server.registerPrompt("greet", {
    description: "Greets somebody",
    argsSchema: z.object({ name: z.string() }),
  }, ({ name }) => ({
    messages: [{
      role: "user" as const,
      content: { type: "text" as const, text: `Greet ${name}` },
    }],
  }));
  return server;
}
