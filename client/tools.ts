import type { Json, JsonObject } from "./json.ts";
import { callFunction, type RequestOptions, type SupabaseLike } from "./supabase.ts";
import type { DescribedServer, DescribedTool, ToolServer } from "./tool_servers.ts";
import { SwarmClientError } from "./swarm_client_error.ts";

/** Tools by server and name, each `{ arguments, result }`. */
export interface AnyTools {
  readonly [server: string]: {
    readonly [name: string]: { readonly arguments: JsonObject; readonly result: Json };
  };
}

/** A tool of a server. */
export interface ToolName<Server extends string = string, Name extends string = string> {
  /** The server's slug, such as `supabase`. */
  readonly server: Server;
  /** The tool's name at its server, or `name@version`. */
  readonly name: Name;
}

/** The arguments of a tool. */
export type ArgumentsOf<Tool> = Tool extends { readonly arguments: infer Arguments } ? Arguments
  : JsonObject;

/** The structured content of a tool's result. */
export type ResultOf<Tool> = Tool extends { readonly result: infer Result } ? Result : Json;

/** How to call a tool. */
export interface ToolCallOptions extends RequestOptions {
  /** Groups calls that belong together; a UUID. */
  readonly sessionId?: string;
  /** Calls the tool as if this definition of its server were saved. */
  readonly draft?: ToolDraft;
  /** Gets the tool's text as it arrives, if the tool streams it. */
  readonly onText?: (piece: ToolText) => void;
}

/** A definition that is not saved; only people with the scope `swarm:configure` may try one. */
export interface ToolDraft {
  /** `tool`: a definition of `agents/tools`; `server`: the setting of an external MCP server. */
  readonly kind: "tool" | "server";
  /** As `operator_save_definition` takes it. */
  readonly definition: JsonObject;
}

/** The tools that a draft would have. */
export interface DraftTools {
  readonly tools: readonly Pick<
    DescribedTool,
    "name" | "title" | "description" | "inputSchema" | "outputSchema" | "annotations"
  >[];
  /** Definitions that cannot be used, each with the reason. */
  readonly dropped: readonly { readonly name: string; readonly reason: string }[];
}

/** A piece of a tool's text. */
export interface ToolText {
  readonly text: string;
  /** The text begins anew with this piece. */
  readonly restarted: boolean;
}

/** The answer of a tool. */
export interface ToolResult<Structured = Json> {
  readonly content: readonly { readonly type: string; readonly text?: string }[];
  readonly structuredContent?: Structured;
  /** The tool ran and failed, or refused its arguments. */
  readonly isError?: boolean;
  readonly error_code?: string;
  readonly _meta: {
    readonly execution_id: string;
    /** Grades the call: `swarm.feedback(token, { rating: "up" })`. */
    readonly feedback_token: string;
    readonly [key: string]: Json | undefined;
  };
}

/** How to read a server. */
export interface DescribeOptions extends RequestOptions {
  /** Asks the server for its tools, instead of reading what it listed last. */
  readonly refresh?: boolean;
}

/** The tools that the user may call. */
export class Tools<Known = AnyTools> {
  readonly #supabase: SupabaseLike;

  constructor(supabase: SupabaseLike) {
    this.#supabase = supabase;
  }

  /** @throws SwarmClientError */
  async list(options: RequestOptions = {}): Promise<readonly ToolServer[]> {
    const { servers } = await callFunction<{ servers: ToolServer[] }>(
      this.#supabase,
      "mcp-execute",
      { method: "GET", ...options },
    );
    return servers;
  }

  /** One server with everything that calls of its tools need. @throws SwarmClientError */
  async describe(
    server: string,
    { refresh = false, signal }: DescribeOptions = {},
  ): Promise<DescribedServer> {
    const query = new URLSearchParams({ server, ...refresh && { refresh: "true" } });
    return await callFunction(this.#supabase, `mcp-execute?${query}`, { method: "GET", signal });
  }

  /** The tools that a draft would have, from its server now. @throws SwarmClientError */
  async listDraft(
    server: string,
    draft: ToolDraft,
    { signal }: RequestOptions = {},
  ): Promise<DraftTools> {
    return await callFunction(this.#supabase, "mcp-execute", { signal, body: { server, draft } });
  }

  /**
   * Calls a tool. A tool that ran and failed is a result with `isError`.
   *
   * @throws SwarmClientError if the call is refused or its server cannot be reached
   */
  async call<Server extends keyof Known & string, Name extends keyof Known[Server] & string>(
    { server, name }: ToolName<Server, Name>,
    ...[parameters, { sessionId, draft, onText, signal } = {}]: CallArguments<Known[Server][Name]>
  ): Promise<ToolResult<ResultOf<Known[Server][Name]>>> {
    const answer = await callFunction<ToolResult<ResultOf<Known[Server][Name]>> | Response>(
      this.#supabase,
      "mcp-execute",
      {
        signal,
        headers: onText === undefined ? {} : { accept: "text/event-stream" },
        body: {
          server,
          tool_name: name,
          parameters: parameters ?? {},
          ...sessionId === undefined ? {} : { session_id: sessionId },
          ...draft && { draft },
        },
      },
    );
    return answer instanceof Response ? await readResult(answer, onText) : answer;
  }
}

/** The arguments of a call, which may be missing if the tool requires none. */
type CallArguments<Tool> = Record<never, never> extends ArgumentsOf<Tool>
  ? [parameters?: ArgumentsOf<Tool>, options?: ToolCallOptions]
  : [parameters: ArgumentsOf<Tool>, options?: ToolCallOptions];

async function readResult<Result>(
  response: Response,
  onText: ((piece: ToolText) => void) | undefined,
): Promise<Result> {
  for await (const { event, data } of serverSentEvents(response)) {
    if (event === "delta") {
      onText?.({ text: String(data.text), restarted: data.restart === true });
    }
    if (event === "result") return data as Result;
    if (event === "error") {
      throw new SwarmClientError({
        ...data.error as { code: string; message: string; hint?: string; details?: unknown },
        status: response.status,
        requestId: response.headers.get("x-request-id"),
      });
    }
  }
  throw new SwarmClientError({
    code: "UNREACHABLE",
    message: "The connection ended before the tool's result",
    hint: "The tool may have run.",
  });
}

interface ServerSentEvent {
  readonly event: string;
  readonly data: Record<string, unknown>;
}

async function* serverSentEvents({ body }: Response): AsyncGenerator<ServerSentEvent> {
  if (body === null) return;
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    let text = "";
    for (;;) {
      const { done, value = "" } = await reader.read();
      text += value;
      const blocks = text.split("\n\n");
      text = blocks.pop() ?? "";
      for (const block of blocks) {
        const event = /^event: ?(.*)$/m.exec(block)?.[1] ?? "message";
        const data = [...block.matchAll(/^data: ?(.*)$/gm)].map(([, line]) => line).join("\n");
        if (data !== "") yield { event, data: JSON.parse(data) };
      }
      if (done) return;
    }
  } finally {
    await reader.cancel();
  }
}
