import { z } from "../../vendor/zod.js";
import { answerInTime } from "../../platform/db/answer_in_time.ts";
import type { Sql } from "../../platform/db/sql_client.ts";
import { toSwarmError } from "../../platform/db/to_swarm_error.ts";
import type { JsonObject, JsonValue } from "../../platform/values/json.ts";
import { jsonValue } from "../../platform/values/json_schema.ts";
import { toStorableJson } from "../../platform/values/storable_json.ts";
import type { UnavailableTool } from "../tool_contracts/agent_tool.ts";
import type { ConnectionState } from "../tool_contracts/connection_state.ts";
import { actorOfCall, type ToolCaller } from "../tool_contracts/tool_caller.ts";
import {
  agentToolSchema,
  callSchema,
  credentialSchema,
  learnedSchema,
  listingSchema,
  namedSecretsSchema,
  relaySchema,
  serverSchema,
  usableSchema,
} from "../tool_contracts/tool_records.ts";
import type {
  CallKey,
  CredentialUse,
  ListingToStore,
  ToolStore,
  ToolToStore,
  TryKey,
} from "../tool_contracts/tool_store.ts";

/** The store on a database connection as role postgres. */
export function createToolStore(sql: Sql): ToolStore {
  return { ...serverMethods(sql), ...connectionMethods(sql), ...callMethods(sql) };
}

function serverMethods(sql: Sql) {
  return {
    agentServers: ({ agentId, userId, taskId }: ToolCaller, maxAgeSeconds: number) =>
      attempt("find the agent's tool servers", async () => {
        const rows = await sql`
          select server, is_due
          from private.agent_tool_servers(
            p_agent_id => ${agentId},
            p_user_id => ${userId},
            p_max_age_seconds => ${maxAgeSeconds},
            p_task_id => ${taskId}
          )`;
        return rows.map((row) => ({
          server: serverSchema.parse(row.server),
          isDue: row.is_due === true,
        }));
      }),
    agentTools: ({ agentId, userId, taskId }: ToolCaller) =>
      attempt("read the agent's tools", async () => {
        const rows = await sql`
          select * from public.get_agent_mcp_tools(
            p_agent_id => ${agentId}, p_user_id => ${userId}, p_task_id => ${taskId}
          )`;
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
          select private.server_listing(
            p_tool_id => ${toolId},
            p_user_id => ${userId},
            p_max_age_seconds => ${maxAgeSeconds}
          ) as listing`;
        return listingSchema.parse(row?.listing);
      }),
    takeListRefresh: (userId: string | null) =>
      attempt("list the tools again", async () => {
        await sql`
          select private.take_from_minute(
            p_name => 'tool_list_refreshes_per_minute',
            p_user_id => ${userId},
            p_action => 'list the tools again'
          )`;
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
          select private.resolve_tool_credential(
            p_tool_id => ${toolId},
            p_user_id => ${userId},
            p_is_agent => ${isAgent}
          ) as credential`;
        return credentialSchema.parse(row?.credential);
      }),
    resolveNamedSecrets: (names: readonly string[], { toolId, userId, isAgent }: CredentialUse) =>
      attempt("resolve the secrets of the tool's headers and query", async () => {
        const [row] = await sql`
          select private.resolve_named_secrets(${sql.json([...names])}, ${toolId}) as secrets
          from private.assert_shared_credential(
            p_tool_id => ${toolId},
            p_user_id => ${userId},
            p_is_agent => ${isAgent}
          )`;
        return namedSecretsSchema.parse(row?.secrets);
      }),
    recordConnectionState: (connectionId: string, state: ConnectionState) =>
      attempt("remember the connection", async () => {
        const storable = sql.json(toStorableJson(jsonValue.parse(state)));
        await sql`select private.record_connection_state(${connectionId}, ${storable})`;
      }),
    beginListing: (connectionId: string) =>
      attempt("begin to list the server's tools", async () => {
        const [row] = await sql<{ is_mine: boolean }[]>`
          select private.begin_listing(${connectionId}) as is_mine`;
        return row?.is_mine === true;
      }),
    continueListing: (connectionId: string) =>
      attempt("continue listing the server's tools", async () => {
        await sql`select private.continue_listing(${connectionId})`;
      }),
    endListing: (connectionId: string) =>
      attempt("end the listing", async () => {
        await sql`select private.end_listing(${connectionId})`;
      }),
    failListing: (connectionId: string, error: JsonObject, isUnreachable: boolean) =>
      attempt("note the failed listing", async () => {
        await sql`
          select private.fail_listing(
            p_connection_id => ${connectionId},
            p_error => ${sql.json(toStorableJson(error))},
            p_is_unreachable => ${isUnreachable}
          )`;
      }),
    reportAbsent: (taskId: string, servers: readonly UnavailableTool[]) =>
      attempt("report absent tools", async () => {
        const rows = servers.map((server) => ({ ...server }));
        await sql`select private.report_absent_tools(${taskId}, ${sql.json(rows)})`;
      }),
    preparedHashes: (connectionId: string) =>
      attempt("look up the stored tools", async () => {
        const rows = await sql<{ hash: string }[]>`
          select form.definition_hash as hash from private.forms_of(${connectionId}) as form`;
        return rows.map(({ hash }) => hash);
      }),
    prepareTools: (connectionId: string, tools: readonly ToolToStore[]) =>
      attempt("store a part of the server's tools", async () => {
        const rows = tools.map(toFormsRow) as unknown as Exclude<
          JsonValue,
          string | number | boolean | null
        >;
        await sql`select private.prepare_tools(${connectionId}, ${sql.json(rows)})`;
      }),
    recordTools: (connectionId: string, listing: ListingToStore) =>
      attempt("store the server's tools", async () => {
        await sql`
          select private.record_tools(${connectionId}, ${sql.json(toListingRow(listing))})`;
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
    beginCall: ({ server, toolName, caller, stepSeq, isCharged, maxAgeSeconds }: CallKey) =>
      attempt("look up the tool", async () => {
        const call = {
          server,
          tool_name: toolName,
          caller: toRow(caller),
          step_seq: stepSeq ?? null,
          is_charged: isCharged,
          max_age_seconds: maxAgeSeconds ?? null,
        };
        const [row] = await sql`select private.begin_tool_call(${sql.json(call)}) as call`;
        return callSchema.nullable().parse(row?.call ?? null);
      }),
    beginTry: ({ server, toolName, caller, draft }: TryKey) =>
      attempt(`try the ${draft.kind}`, async () => {
        const tried = { ...draft, server, tool_name: toolName, caller: toRow(caller) };
        const [row] = await sql`select private.begin_tool_try(${sql.json(tried)}) as call`;
        return callSchema.parse(row?.call);
      }),
    learnedParameters: (connectionId: string, toolName: string) =>
      attempt("read what worked before", async () => {
        const [row] = await sql`
          select * from private.learned_parameters(${connectionId}, ${toolName})`;
        return learnedSchema.nullable().parse(row ?? null);
      }),
    recordExecution: (execution: JsonObject) =>
      attempt("record the tool call", async () => {
        const [row] = await sql<{ failures: number }[]>`
          select private.record_execution(${sql.json(toStorableJson(execution))}) as failures`;
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
    is_guardrail: caller.isGuardrail ?? false,
    joins_session: caller.joinsSession ?? false,
  };
}

function toListingRow({ tools, dropped, isRemote, isTrusted, holdsNew }: ListingToStore) {
  const listing = {
    tools: tools.map(({ definition, forms, hash, scopes }) => ({
      name: definition.name,
      version: definition.version ?? null,
      schema: definition,
      ...toFormsRow({ forms, hash }),
      scopes,
    })),
    dropped,
    is_remote: isRemote,
    is_trusted: isTrusted,
    holds_new: holdsNew,
  };
  return listing as unknown as Exclude<JsonValue, string | number | boolean | null>;
}

function toFormsRow({ forms, hash }: Pick<ToolToStore, "forms" | "hash">) {
  return { hash, openai_schema: forms?.openAi ?? null, schema_losses: forms?.losses ?? null };
}

async function attempt<T>(action: string, work: () => Promise<T>): Promise<T> {
  try {
    return await answerInTime(work());
  } catch (error) {
    throw toSwarmError(error, action);
  }
}
