import { z } from "zod";
import { CLOSED_SETS } from "../db/database.types.ts";
import type { Sql } from "../db/sql_client.ts";
import { toSwarmError } from "../db/to_swarm_error.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import { jsonObject, jsonValue } from "../json_schema.ts";
import { type ConnectionState, connectionStateSchema } from "../mcp/connection_state.ts";
import { type ToolDefinition, toolDefinitionSchema } from "./tool_definition.ts";

/** A row of `tools`. */
const registeredToolSchema = z.object({
  id: z.string(),
  slug: z.string(),
  type: z.enum(CLOSED_SETS.tools.type),
  description: z.string().nullable(),
  config: jsonValue,
  credential_type: z.string().nullable(),
  credential_secret_name: z.string().nullable(),
});

const serverSchema = z.object({
  tool: registeredToolSchema,
  connection: connectionStateSchema.extend({ id: z.string() }),
});

/** A registry row with its connection for one user. */
export type RegisteredServer = z.infer<typeof serverSchema>;

const callSchema = serverSchema.extend({
  is_allowed: z.boolean(),
  timeout_ms: z.number().nullable(),
  cached: z.object({ version: z.string().nullable(), schema: toolDefinitionSchema }).nullable(),
  tool_names: z.array(z.string()),
});

/** All that one call needs to know. */
export type CallRecord = z.infer<typeof callSchema>;

const agentToolSchema = z.object({
  tool_id: z.string(),
  server: z.string(),
  tool_name: z.string(),
  tool_schema: toolDefinitionSchema,
  openai_schema: z.object({
    function: z.object({ description: z.string(), parameters: jsonObject }),
  }),
  successful_parameters: z.array(jsonValue),
  is_shape: z.boolean(),
  success_count: z.number(),
});

/** A cached tool of an agent with what worked before. */
export type CachedTool = z.infer<typeof agentToolSchema>;

/** A tool as the cache takes it. */
export interface ToolToStore {
  readonly definition: ToolDefinition;
  /** Legal for every provider. */
  readonly functionName: string;
  readonly description: string;
  /** Portable; see `toFunctionSchema`. */
  readonly parameters: JsonObject;
}

/** Registry, connections, cache and ledger. Every method throws `SwarmError`. */
export interface ToolStore {
  /** The agent's active servers; `isStale` when their tools have to be listed (again). */
  agentServers(
    agentId: string,
    userId: string | null,
    maxAgeSeconds: number,
  ): Promise<{ server: RegisteredServer; isStale: boolean }[]>;
  agentTools(agentId: string, userId: string | null): Promise<CachedTool[]>;
  /** Null when no such tool is registered and active. */
  loadCall(call: CallKey): Promise<CallRecord | null>;
  /** Null when the tool names no secret. @throws SECRET_NOT_FOUND */
  resolveSecret(toolId: string, userId: string | null): Promise<string | null>;
  saveConnectionState(connectionId: string, state: ConnectionState): Promise<void>;
  storeTools(connectionId: string, tools: readonly ToolToStore[]): Promise<void>;
  recordExecution(execution: JsonObject): Promise<void>;
}

/** Which tool is called and by whom. */
export interface CallKey {
  readonly toolId: string;
  readonly toolName: string;
  readonly agentId: string | null;
  readonly userId: string | null;
}

/** The store on a database connection as role postgres. */
export function createToolStore(sql: Sql): ToolStore {
  return {
    agentServers: (agentId, userId, maxAgeSeconds) =>
      attempt("find the agent's tool servers", async () => {
        const rows = await sql`
          select server, is_stale
          from private.agent_tool_servers(${agentId}, ${userId}, ${maxAgeSeconds})`;
        return rows.map((row) => ({
          server: serverSchema.parse(row.server),
          isStale: row.is_stale === true,
        }));
      }),
    agentTools: (agentId, userId) =>
      attempt("read the agent's tools", async () => {
        const rows = await sql`select * from public.get_agent_mcp_tools(${agentId}, ${userId})`;
        return z.array(agentToolSchema).parse(rows);
      }),
    loadCall: ({ toolId, toolName, agentId, userId }) =>
      attempt("look up the tool", async () => {
        const [row] = await sql`
          select private.load_tool_call(${toolId}, ${toolName}, ${agentId}, ${userId}) as call`;
        return callSchema.nullable().parse(row?.call ?? null);
      }),
    resolveSecret: (toolId, userId) =>
      attempt("resolve the tool's credential", async () => {
        const [row] = await sql<{ secret: string | null }[]>`
          select private.resolve_tool_secret(${toolId}, ${userId}) as secret`;
        return row?.secret ?? null;
      }),
    saveConnectionState: (connectionId, state) =>
      attempt("remember the connection", async () => {
        await sql`select private.save_connection_state(${connectionId}, ${sql.json(state)})`;
      }),
    storeTools: (connectionId, tools) =>
      attempt("store the server's tools", async () => {
        const rows = tools.map(toRow) as unknown as JsonValue;
        await sql`select private.store_tools(${connectionId}, ${sql.json(rows)})`;
      }),
    recordExecution: (execution) =>
      attempt("record the tool call", async () => {
        await sql`select private.record_execution(${sql.json(execution)})`;
      }),
  };
}

function toRow({ definition, functionName, description, parameters }: ToolToStore) {
  return {
    name: definition.name,
    version: definition.version ?? null,
    schema: definition,
    openai_schema: {
      type: "function",
      function: { name: functionName, description, parameters },
    },
  };
}

async function attempt<T>(action: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toSwarmError(error, action);
  }
}
