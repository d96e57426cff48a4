import type { Sql } from "../db/sql_client.ts";
import type { ToolDefinition } from "../tools/tool_definition.ts";
import type { ServerAnswer, ServerCall } from "../tools/tool_server.ts";

/** What an internal server works with. */
export interface InternalContext {
  readonly sql: Sql;
  readonly supabaseUrl: string;
  /** Of the project; for the server's own requests, never for anything it answers. */
  readonly secretKey: string;
  readonly signal: AbortSignal;
}

/** A tool server that is part of the product: one folder under `shared/mcp/servers`. */
export interface InternalServer {
  /** The folder's name, which `config.server` of a tool names. */
  readonly name: string;
  listTools(): readonly ToolDefinition[];
  /** Called with arguments that fit the tool's schema. */
  callTool(call: ServerCall, context: InternalContext): Promise<ServerAnswer>;
}
