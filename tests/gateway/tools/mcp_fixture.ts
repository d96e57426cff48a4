import { z } from "../../../shared/vendor/zod.js";
import { loadMcpServer } from "../../deps.ts";

/** One request that the server received. */
export interface SeenRequest {
  readonly url: URL;
  readonly headers: Headers;
  readonly httpMethod: string;
  /** The JSON-RPC method, if the body named one. */
  readonly method: string | undefined;
  /** For a list, the requested page; absent for the first. */
  readonly cursor?: string | undefined;
  /** The request's `_meta`. */
  readonly meta?: Readonly<Record<string, unknown>>;
}

/** A real MCP server on loopback. */
export interface McpFixture {
  readonly url: string;
  readonly seen: SeenRequest[];
  /** Arguments of the executed calls of `write_note`. */
  readonly notes: string[];
  stop(): Promise<void>;
}

/** How the server behaves. */
export interface McpFixtureOptions {
  /** `legacy` keeps sessions and knows only `initialize`. @default "modern" */
  readonly era?: "modern" | "legacy";
  /** @default any free port */
  readonly port?: number;
  /** Answers instead of the server if it returns a response. */
  readonly intercept?: (
    request: SeenRequest,
    answer: () => Promise<Response>,
  ) => Response | Promise<Response | undefined> | undefined;
  /**
   * The required argument of `search`; another name makes another schema. @default "searchValue"
   */
  readonly searchArgument?: () => string;
}

/** Starts a server with every kind of tool that the tests need. */
export async function startMcpServer(options: McpFixtureOptions = {}): Promise<McpFixture> {
  const seen: SeenRequest[] = [];
  const notes: string[] = [];
  const handle = options.era === "legacy"
    ? await legacyHandler(notes, options)
    : await modernHandler(notes, options);
  const server = Deno.serve({
    hostname: "127.0.0.1",
    port: options.port ?? 0,
    onListen: () => {},
  }, async (request) => {
    const body = request.method === "POST" ? await request.clone().json() : {};
    const entry = {
      url: new URL(request.url),
      headers: request.headers,
      httpMethod: request.method,
      method: body.method,
      cursor: body.params?.cursor,
      meta: body.params?._meta ?? {},
    };
    seen.push(entry);
    return await options.intercept?.(entry, () => handle(request)) ?? await handle(request);
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}/mcp`,
    seen,
    notes,
    stop: () => server.shutdown(),
  };
}

type Handler = (request: Request) => Promise<Response>;

async function modernHandler(notes: string[], options: McpFixtureOptions): Promise<Handler> {
  const { createMcpHandler } = await loadMcpServer();
  const handler = createMcpHandler(() => createServer(notes, options), { legacy: "reject" });
  return (request) => handler.fetch(request);
}

async function legacyHandler(notes: string[], options: McpFixtureOptions): Promise<Handler> {
  const { WebStandardStreamableHTTPServerTransport } = await loadMcpServer();
  type Transport = InstanceType<typeof WebStandardStreamableHTTPServerTransport>;
  const sessions = new Map<string, Transport>();
  return async (request) => {
    const id = request.headers.get("mcp-session-id");
    const known = id === null ? undefined : sessions.get(id);
    if (known !== undefined) return await known.handleRequest(request);
    if (id !== null) return new Response("session not found", { status: 404 });
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (sessionId: string) => {
        sessions.set(sessionId, transport);
      },
    });
    const server = await createServer(notes, options);
    await server.connect(transport);
    return await transport.handleRequest(request);
  };
}

async function createServer(notes: string[], options: McpFixtureOptions) {
  const { McpServer } = await loadMcpServer();
  const server = new McpServer({ name: "fixture", version: "1.0.0" });
  const argument = options.searchArgument?.() ?? "searchValue";
  server.registerTool("search", {
    description: "Finds a contact",
    inputSchema: z.strictObject({
      [argument]: z.string(),
      unit: z.enum(["people", "firms"]).optional(),
    }),
    annotations: { readOnlyHint: true },
  }, (args) => ({
    content: [{ type: "text" as const, text: `found ${JSON.stringify(args)}` }],
    structuredContent: { found: true },
  }));
  server.registerTool("write_note", {
    description: "Writes a note",
    inputSchema: z.object({ text: z.string() }),
  }, ({ text }) => {
    notes.push(text);
    return { content: [{ type: "text" as const, text: `written: ${text}` }] };
  });
  server.registerTool("fail", {
    description: "Always reports an error",
    inputSchema: z.object({ with: z.string() }),
  }, (args) => ({
    isError: true,
    content: [{ type: "text" as const, text: `Use another value than ${args.with}` }],
  }));
  return server;
}
