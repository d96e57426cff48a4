import { brokenAnswer, type HttpFixture, startHttpServer } from "../gateway/tools/http_fixture.ts";

/** A credential that a test recognizes wherever it appears. */
export interface Canary {
  readonly name: string;
  readonly value: string;
  /** The beginning of the value: found even if the rest is cut off or encoded. */
  readonly core: string;
}

/** A new secret with characters that JSON, URLs and HTML each encode differently. */
export function hatch(name: string): Canary {
  const core = `canary-${name}-${crypto.randomUUID().slice(0, 8)}`;
  return { name, core, value: `${core}/+"&=%<\\>${crypto.randomUUID()}` };
}

/** Servers that repeat everything they receive, each at a path of one address. */
export interface EchoServers extends AsyncDisposable {
  readonly url: string;
  /** Every request's address and headers, as text. */
  heard(): string;
}

/**
 * Starts servers that reveal secrets: `/echo` repeats the request at length, `/php`, `/dotnet`
 * and `/html` with the escapes of PHP, .NET and HTML templates, `/fail` as an error, `/break`
 * breaks off in the middle, `/mcp` is an MCP server, `/says/…` a model that answers with its key,
 * `/refuses/…` one that reports an error with it.
 *
 * @param gate Models answer when it resolves.
 */
export function startEchoServers(gate: Promise<void>): EchoServers {
  const server: HttpFixture = startHttpServer(async (request) => {
    const echo = `${request.url.href} ${JSON.stringify([...request.headers])}`;
    const [, endpoint = ""] = request.url.pathname.split("/");
    switch (endpoint) {
      case "echo":
        return new Response(`${echo}\n${"long ".repeat(20_000)}${echo}`);
      case "php":
        return answerJson(JSON.stringify({ error: echo }).replaceAll("/", "\\/"));
      case "dotnet":
        return answerJson(JSON.stringify({ error: echo }).replace(/\\"|[+'<>&]/g, toUnicodeEscape));
      case "html":
        return answerHtml(`<p>${echo.replace(/["'&<>/+=]/g, toEntity)}</p>`);
      case "fail":
        return Response.json({ echo }, { status: 500 });
      case "break":
        return brokenAnswer();
      case "mcp":
        return answerMcp(JSON.parse(request.body || "{}"), request.headers);
      case "says":
        await gate;
        return streamWords(["My key is ", ...halves(keyOf(request.headers)), ". Keep it."]);
      case "refuses":
        await gate;
        return refuse(keyOf(request.headers), echo);
      default:
        return new Response(echo, { status: 404 });
    }
  });
  return {
    url: server.url,
    heard: () => server.seen.map(({ url, headers }) => `${url} ${[...headers].join()}`).join("\n"),
    [Symbol.asyncDispose]: () => server.stop(),
  };
}

function answerJson(text: string): Response {
  return new Response(text, { headers: { "content-type": "application/json" } });
}

function answerHtml(text: string): Response {
  return new Response(text, { headers: { "content-type": "text/html" } });
}

function toUnicodeEscape(found: string): string {
  const code = found.charCodeAt(found.length - 1);
  return `\\u${code.toString(16).toUpperCase().padStart(4, "0")}`;
}

function toEntity(character: string): string {
  return `&#x${character.charCodeAt(0).toString(16)};`;
}

function keyOf(headers: Headers): string {
  const bearer = headers.get("authorization")?.replace("Bearer ", "");
  return headers.get("x-api-key") ?? headers.get("x-goog-api-key") ?? bearer ?? "";
}

function halves(text: string): readonly [string, string] {
  return [text.slice(0, 12), text.slice(12)];
}

/** A chat completion, streamed word by word. */
function streamWords(words: readonly string[]): Response {
  const chunk = (delta: Readonly<Record<string, string>>, finish_reason: string | null) =>
    `data: ${
      JSON.stringify({
        id: "1",
        object: "chat.completion.chunk",
        created: 1,
        model: "echo",
        choices: [{ index: 0, delta, finish_reason }],
      })
    }\n\n`;
  const body = words.map((content) => chunk({ content }, null)).join("");
  return new Response(`${body}${chunk({}, "stop")}data: [DONE]\n\n`, {
    headers: { "content-type": "text/event-stream" },
  });
}

/** The key spans the position where quoted errors are cut, and appears again further on. */
function refuse(key: string, echo: string): Response {
  const message = `${"x".repeat(460)}${key} ${echo}`;
  return Response.json({ error: { message, type: "authentication_error" } }, { status: 401 });
}

interface RpcRequest {
  readonly id?: number | string;
  readonly method?: string;
}

/** An MCP server of the earlier protocol that returns its caller's credential everywhere. */
function answerMcp({ id, method }: RpcRequest, headers: Headers): Response {
  const echo = headers.get("authorization") ?? "nobody";
  const key = echo.replace("Bearer ", "");
  const results: Readonly<Record<string, unknown>> = {
    initialize: {
      protocolVersion: "2025-06-18",
      capabilities: { tools: {} },
      serverInfo: { name: echo, version: "1" },
      instructions: echo,
    },
    "tools/list": {
      tools: [{
        name: "peek",
        description: `Peeks as ${echo}`,
        inputSchema: { type: "object", properties: {}, description: echo },
      }, { name: echo, inputSchema: { type: key } }],
    },
    "tools/call": { isError: true, content: [{ type: "text", text: `No: ${echo}` }] },
  };
  if (id === undefined) return new Response(null, { status: 202 });
  const result = results[method ?? ""];
  const answer = result === undefined
    ? { error: { code: -32601, message: `No ${method} for ${echo}` } }
    : { result };
  // A session id consists of visible ASCII characters.
  const session = encodeURIComponent(key);
  return Response.json({ jsonrpc: "2.0", id, ...answer }, {
    headers: { "mcp-session-id": session },
  });
}
