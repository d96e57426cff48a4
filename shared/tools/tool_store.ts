import { actorOfCall } from "./actor_of_call.ts";
import { z } from "../vendor/zod.js";
import { CLOSED_SETS } from "../db/database.types.ts";
import { answerInTime } from "../db/answer_in_time.ts";
import type { Sql } from "../db/sql_client.ts";
import { toSwarmError } from "../db/to_swarm_error.ts";
import { type ErrorCode, isErrorCode } from "../errors/codes.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import { jsonObject, jsonValue } from "../json_schema.ts";
import { type ConnectionState, connectionStateSchema } from "../mcp/connection_state.ts";
import type { CachedForms } from "../tool_schemas/cached_forms.ts";
import { schemaLossesSchema } from "../tool_schemas/schema_loss.ts";
import type { LearnedParameters } from "./known_good.ts";
import { type ToolDefinition, toolDefinitionSchema } from "./tool_definition.ts";
import type { ToolCaller, UnavailableTool } from "./tool_port.ts";
import type { DroppedTool } from "./tool_server.ts";

/** A row of `tools`. */
export type RegisteredTool = z.infer<typeof registeredToolSchema>;
const registeredToolSchema = z.object({
  id: z.string(),
  slug: z.string(),
  name: z.string(),
  type: z.enum(CLOSED_SETS.tools.type),
  description: z.string().nullable(),
  config: jsonValue,
  credential_type: z.string().nullable(),
  credential_secret_name: z.string().nullable(),
});

const breakerSchema = z.enum(["closed", "open", "half_open"]);

const serverSchema = z.object({
  tool: registeredToolSchema,
  connection: connectionStateSchema.extend({
    id: z.string(),
    /** Instructions that nobody has approved are not passed on. */
    are_instructions_approved: z.boolean(),
    instructions_hash: z.string().nullable(),
  }),
  tools_listed_at: z.string().nullable(),
  listing_error: z.object({
    code: z.custom<ErrorCode>(isErrorCode),
    message: z.string(),
  }).nullable().catch(null),
  breaker: breakerSchema,
  retry_at: z.string().nullable(),
});

/** A registry row with its connection for one user. */
export type RegisteredServer = z.infer<typeof serverSchema>;

const toolStateSchema = z.enum(CLOSED_SETS.mcp_tools_cache.state);

const credentialSchema = z.object({
  /** Null when the tool names no secret. */
  secret: z.string().nullable(),
  /** The user's own. */
  is_own: z.boolean(),
  /** Of an access token that the user authorised. */
  connection: z.object({
    credential_id: z.string(),
    generation: z.number(),
    /** To be renewed before it is used. */
    is_stale: z.boolean(),
    needs_authorization: z.boolean(),
  }).nullable(),
});

/** What Vault has for a call. */
export type ResolvedCredential = z.infer<typeof credentialSchema>;

const namedSecretsSchema = z.record(z.string(), z.string());

const callSchema = serverSchema.extend({
  user_id: z.string().nullable(),
  /** The OAuth client of the call, inside a task of the one that created its job. */
  client_id: z.string().nullable(),
  /** Null: every scope. */
  scopes: z.array(z.string()).nullable(),
  is_granted: z.boolean(),
  is_allowed: z.boolean(),
  timeout_ms: z.number().nullable(),
  /** The server's list is older than was asked for; the call was not taken out of its limit. */
  is_due: z.boolean(),
  /** 0: within the rate limit. */
  retry_after_ms: z.number(),
  /** Null when the call is refused, and when Vault lacks something, which resolving it names. */
  secrets: z.object({ credential: credentialSchema, named: namedSecretsSchema }).nullable(),
  cached: z.object({
    name: z.string(),
    version: z.string().nullable(),
    schema: toolDefinitionSchema,
    hash: z.string(),
    state: toolStateSchema,
    held: toolDefinitionSchema.nullable(),
  }).nullable(),
  tool_names: z.array(z.string()),
});

const relaySchema = serverSchema.extend({
  is_allowed: z.boolean(),
  timeout_ms: z.number().nullable(),
  retry_after_ms: z.number(),
});

/** A server that something other than a call of a tool is asked of. */
export type RelayRecord = z.infer<typeof relaySchema>;

/** All that one call needs to know. */
export type CallRecord = z.infer<typeof callSchema>;

const agentToolSchema = z.object({
  tool_id: z.string(),
  server: z.string(),
  tool_name: z.string(),
  tool_schema: toolDefinitionSchema,
  successful_parameters: z.array(jsonValue),
  is_shape: z.boolean(),
  success_count: z.number(),
  tool_type: z.string(),
  parameter_shape: jsonValue.nullable(),
  data_flows: jsonObject.nullable(),
  destination: z.string().nullable(),
});

const learnedSchema = z.object({
  successful_parameters: z.array(jsonValue),
  is_shape: z.boolean(),
  success_count: z.number(),
}).transform((row): LearnedParameters => ({
  sets: row.successful_parameters,
  isShape: row.is_shape,
  successCount: row.success_count,
}));

/** A cached tool of an agent with what worked before. */
export type CachedTool = z.infer<typeof agentToolSchema>;

const usableServerSchema = z.object({
  tool: registeredToolSchema,
  connection_id: z.string().nullable(),
  user_id: z.string().nullable(),
  health: z.enum(CLOSED_SETS.agent_mcp_connections.health),
  breaker: breakerSchema,
  retry_at: z.string().nullable(),
  failure_count: z.number(),
  last_success_at: z.string().nullable(),
  tools_listed_at: z.string().nullable(),
  /** Of each tool that can be called. */
  tool_scopes: z.array(z.array(z.string())),
});

/** An active server with the caller's connection, if there is one yet. */
export type UsableServer = z.infer<typeof usableServerSchema>;

const usableSchema = z.object({
  server: usableServerSchema,
  scopes: z.array(z.string()).nullable(),
});

const listingSchema = serverSchema.extend({
  is_due: z.boolean(),
  dropped: z.array(z.object({ name: z.string(), reason: z.string() })),
  tools: z.array(z.object({
    name: z.string(),
    version: z.string().nullable(),
    schema: toolDefinitionSchema,
    hash: z.string(),
    losses: schemaLossesSchema,
    scopes: z.array(z.string()),
    is_allowed: z.boolean(),
    state: toolStateSchema,
    held: toolDefinitionSchema.nullable(),
    approved: toolDefinitionSchema.nullable(),
    /** What was approved the server told another user, not this one. */
    is_approved_anothers: z.boolean(),
    successful_parameters: z.array(jsonValue),
    is_shape: z.boolean(),
    success_count: z.number(),
    last_successful_call: z.string().nullable(),
    last_updated: z.string(),
  })),
});

/** A server with its cached tools. */
export type ServerListing = z.infer<typeof listingSchema>;

/** A tool as the cache takes it. */
export interface ToolToStore {
  readonly definition: ToolDefinition;
  readonly forms: CachedForms;
  /** See `definitionHash`. */
  readonly hash: string;
  /** Of a tool of an internal server. */
  readonly scopes: readonly string[];
}

/** A server's whole list as the cache takes it. */
export interface ListingToStore {
  readonly tools: readonly ToolToStore[];
  readonly dropped: readonly DroppedTool[];
  /** Somebody else's server, whose definitions have to be approved. */
  readonly isRemote: boolean;
  /** Tools that appear after the first list wait for their approval. */
  readonly holdsNew: boolean;
  /** Its operator lets all its definitions pass. */
  readonly isTrusted: boolean;
}

/** A server of an agent. */
export interface AgentServer {
  readonly server: RegisteredServer;
  /** It should be asked for its tools (again). */
  readonly isDue: boolean;
}

/** Which tool is called and by whom. */
export interface CallKey {
  readonly server: string;
  readonly toolName: string;
  readonly caller: ToolCaller;
  /** Takes the call out of its rate limit. */
  readonly isCharged: boolean;
  /** Of the server's list; see `is_due`. @default any age */
  readonly maxAgeSeconds?: number;
}

/** For whose call of which tool secrets are wanted. */
export interface CredentialUse {
  readonly toolId: string;
  /** Null: the service's. */
  readonly userId: string | null;
  /** An agent makes it on the user's behalf. */
  readonly isAgent: boolean;
}

/** Where secrets come from. */
export interface SecretSource {
  /** The user's own, else the tool's. @throws SECRET_NOT_FOUND, CREDENTIAL_REQUIRED */
  resolveCredential(use: CredentialUse): Promise<ResolvedCredential>;
  /** By name. @throws SECRET_NOT_FOUND, CREDENTIAL_REQUIRED */
  resolveNamedSecrets(
    names: readonly string[],
    use: CredentialUse,
  ): Promise<Readonly<Record<string, string>>>;
}

/** Registry, connections, cache and ledger. Every method throws `SwarmError`. */
export interface ToolStore extends SecretSource {
  agentServers(
    agentId: string,
    userId: string | null,
    maxAgeSeconds: number,
  ): Promise<readonly AgentServer[]>;
  agentTools(agentId: string, userId: string | null): Promise<CachedTool[]>;
  /** The active servers, or that one; scopes null: every scope. */
  usableServers(
    caller: ToolCaller,
    server: string | null,
  ): Promise<{ server: UsableServer; scopes: readonly string[] | null }[]>;
  serverListing(
    toolId: string,
    userId: string | null,
    maxAgeSeconds: number,
  ): Promise<ServerListing>;
  /**
   * Counts a list that a user asks for anew.
   *
   * @throws SwarmError `QUOTA_EXCEEDED`
   */
  takeListRefresh(userId: string | null): Promise<void>;
  /** Null when the connection is neither the user's nor the caller a service. */
  connectionServer(connectionId: string, caller: ToolCaller): Promise<string | null>;
  /** Takes the request out of the rate limit of the server's policy. */
  beginRelay(toolId: string, userId: string | null): Promise<RelayRecord>;
  /** Null when no such server is registered and active. */
  loadCall(call: CallKey): Promise<CallRecord | null>;
  saveConnectionState(connectionId: string, state: ConnectionState): Promise<void>;
  /** True for the one who may ask the server for its tools; it has to store or fail the listing. */
  beginListing(connectionId: string): Promise<boolean>;
  /** Keeps what `beginListing` took; without it, it is free again after four seconds. */
  continueListing(connectionId: string): Promise<void>;
  /** Gives the turn back without a word on what came of it. */
  endListing(connectionId: string): Promise<void>;
  failListing(connectionId: string, error: JsonObject, isUnreachable: boolean): Promise<void>;
  /** Tells the task's trace, once, which servers could not be asked. */
  reportAbsent(taskId: string, servers: readonly UnavailableTool[]): Promise<void>;
  storeTools(connectionId: string, listing: ListingToStore): Promise<void>;
  /** True for the one call that may try a server whose breaker is half open. */
  beginProbe(connectionId: string): Promise<boolean>;
  /** What worked before with a tool, as a connection's user may see it; null for no such tool. */
  learnedParameters(connectionId: string, toolName: string): Promise<LearnedParameters | null>;
  /** @returns How often the tool has now failed in a row. */
  recordExecution(execution: JsonObject): Promise<number>;
}

/** The store on a database connection as role postgres. */
export function createToolStore(sql: Sql): ToolStore {
  return { ...serverMethods(sql), ...connectionMethods(sql), ...callMethods(sql) };
}

function serverMethods(sql: Sql) {
  return {
    agentServers: (agentId: string, userId: string | null, maxAgeSeconds: number) =>
      attempt("find the agent's tool servers", async () => {
        const rows = await sql`
          select server, is_due
          from private.agent_tool_servers(${agentId}, ${userId}, ${maxAgeSeconds})`;
        return rows.map((row) => ({
          server: serverSchema.parse(row.server),
          isDue: row.is_due === true,
        }));
      }),
    agentTools: (agentId: string, userId: string | null) =>
      attempt("read the agent's tools", async () => {
        const rows = await sql`select * from public.get_agent_mcp_tools(${agentId}, ${userId})`;
        return z.array(agentToolSchema).parse(rows);
      }),
    usableServers: (caller: ToolCaller, server: string | null) =>
      attempt("find the tool servers", async () => {
        const rows = await sql`
          select server, scopes from private.usable_servers(${sql.json(toRow(caller))}, ${server})`;
        return rows.map((row) => usableSchema.parse(row));
      }),
    serverListing: (toolId: string, userId: string | null, maxAgeSeconds: number) =>
      attempt("read the server's tools", async () => {
        const [row] = await sql`
          select private.server_listing(${toolId}, ${userId}, ${maxAgeSeconds}) as listing`;
        return listingSchema.parse(row?.listing);
      }),
    takeListRefresh: (userId: string | null) =>
      attempt("list the tools anew", async () => {
        await sql`
          select private.take_from_minute(
            'tool_list_refreshes_per_minute', ${userId}, 'list the tools anew')`;
      }),
    beginRelay: (toolId: string, userId: string | null) =>
      attempt("look up the tool server", async () => {
        const [row] = await sql`select private.begin_relay(${toolId}, ${userId}) as server`;
        return relaySchema.parse(row?.server);
      }),
    connectionServer: (connectionId: string, caller: ToolCaller) =>
      attempt("find the connection", async () => {
        const [row] = await sql<{ slug: string }[]>`
          select tool.slug
          from public.agent_mcp_connections connection
          join public.tools tool on tool.id = connection.tool_id and tool.is_active
          where connection.id = ${connectionId}
            and (${caller.isService} or connection.user_id = ${caller.userId})`;
        return row?.slug ?? null;
      }),
  };
}

function connectionMethods(sql: Sql) {
  return {
    resolveCredential: ({ toolId, userId, isAgent }: CredentialUse) =>
      attempt("resolve the tool's credential", async () => {
        const [row] = await sql`
          select private.resolve_tool_credential(${toolId}, ${userId}, ${isAgent}) as credential`;
        return credentialSchema.parse(row?.credential);
      }),
    resolveNamedSecrets: (
      names: readonly string[],
      { toolId, userId, isAgent }: CredentialUse,
    ) =>
      attempt("resolve the secrets of the tool's headers and query", async () => {
        const [row] = await sql`
          select private.resolve_named_secrets(${sql.json([...names])}) as secrets
          from private.assert_shared_credential(${toolId}, ${userId}, ${isAgent})`;
        return namedSecretsSchema.parse(row?.secrets);
      }),
    saveConnectionState: (connectionId: string, state: ConnectionState) =>
      attempt("remember the connection", async () => {
        await sql`select private.save_connection_state(${connectionId}, ${sql.json(state)})`;
      }),
    beginListing: (connectionId: string) =>
      attempt("begin to list the server's tools", async () => {
        const [row] = await sql<{ is_mine: boolean }[]>`
          select private.begin_listing(${connectionId}) as is_mine`;
        return row?.is_mine === true;
      }),
    continueListing: (connectionId: string) =>
      attempt("go on listing the server's tools", async () => {
        await sql`select private.continue_listing(${connectionId})`;
      }),
    endListing: (connectionId: string) =>
      attempt("end the listing", async () => {
        await sql`select private.end_listing(${connectionId})`;
      }),
    failListing: (connectionId: string, error: JsonObject, isUnreachable: boolean) =>
      attempt("note the failed listing", async () => {
        await sql`
          select private.fail_listing(${connectionId}, ${sql.json(error)}, ${isUnreachable})`;
      }),
    reportAbsent: (taskId: string, servers: readonly UnavailableTool[]) =>
      attempt("report absent tools", async () => {
        const rows = servers.map((server) => ({ ...server }));
        await sql`select private.report_absent_tools(${taskId}, ${sql.json(rows)})`;
      }),
    storeTools: (connectionId: string, listing: ListingToStore) =>
      attempt("store the server's tools", async () => {
        await sql`
          select private.store_tools(${connectionId}, ${sql.json(toListingRow(listing))})`;
      }),
    beginProbe: (connectionId: string) =>
      attempt("try the server again", async () => {
        const [row] = await sql<{ is_mine: boolean }[]>`
          select private.begin_probe(${connectionId}) as is_mine`;
        return row?.is_mine === true;
      }),
  };
}

function callMethods(sql: Sql) {
  return {
    loadCall: ({ server, toolName, caller, isCharged, maxAgeSeconds }: CallKey) =>
      attempt("look up the tool", async () => {
        const call = {
          server,
          tool_name: toolName,
          caller: toRow(caller),
          is_charged: isCharged,
          max_age_seconds: maxAgeSeconds ?? null,
        };
        const [row] = await sql`select private.load_tool_call(${sql.json(call)}) as call`;
        return callSchema.nullable().parse(row?.call ?? null);
      }),
    learnedParameters: (connectionId: string, toolName: string) =>
      attempt("read what worked before", async () => {
        const [row] = await sql`
          select private.learned_parameters(${connectionId}, ${toolName}) as learned`;
        return learnedSchema.nullable().parse(row?.learned ?? null);
      }),
    recordExecution: (execution: JsonObject) =>
      attempt("record the tool call", async () => {
        const [row] = await sql<{ failures: number }[]>`
          select private.record_execution(${sql.json(execution)}) as failures`;
        return row?.failures ?? 0;
      }),
  };
}

function toRow(caller: ToolCaller) {
  return {
    user_id: caller.userId,
    agent_id: caller.agentId,
    task_id: caller.taskId,
    client_id: caller.clientId,
    session_id: caller.sessionId,
    client_name: caller.clientName,
    is_service: caller.isService,
    is_agent: actorOfCall(caller) === "agent",
  };
}

function toListingRow({ tools, dropped, isRemote, isTrusted, holdsNew }: ListingToStore) {
  const listing = {
    tools: tools.map(({ definition, forms, hash, scopes }) => ({
      name: definition.name,
      version: definition.version ?? null,
      schema: definition,
      openai_schema: forms.openAi,
      schema_losses: forms.losses,
      hash,
      scopes,
    })),
    dropped,
    is_remote: isRemote,
    is_trusted: isTrusted,
    holds_new: holdsNew,
  };
  return listing as unknown as Exclude<JsonValue, string | number | boolean | null>;
}

async function attempt<T>(action: string, work: () => Promise<T>): Promise<T> {
  try {
    return await answerInTime(work());
  } catch (error) {
    throw toSwarmError(error, action);
  }
}
