import { z } from "../../../../vendor/zod.js";
import type { Sql } from "../../../../platform/db/sql_client.ts";
import { attempt } from "../../../../platform/db/to_swarm_error.ts";
import { jsonValue } from "../../../../platform/values/json_schema.ts";
import type { JsonObject } from "../../../../platform/values/json.ts";
import type { OAuthToken } from "../../../tool_contracts/credential.ts";
import { authorizationServerSchema } from "./authorization_server.ts";

/** This project as a client of one authorization server. */
export interface OAuthClient {
  readonly clientId: string;
  /** In Vault; null for a public client. */
  readonly clientSecretName: string | null;
}

const clientSchema = z.object({
  client_id: z.string(),
  client_secret_name: z.string().nullable(),
});

/** An active tool that a user can connect to. */
export type ConnectableTool = z.infer<typeof toolSchema>;
const toolSchema = z.object({
  id: z.string(),
  slug: z.string(),
  type: z.enum(["internal", "mcp_server", "http_api", "supabase_rpc"]),
  config: jsonValue,
  credential_type: z.string().nullable(),
});

/** The redirect URL of an authorization and the page that follows. */
const foundSchema = z.object({ redirect_url: z.string(), return_to: z.string().nullable() });

/** A pending authorization. */
export type TakenRequest = z.infer<typeof requestSchema>;
const requestSchema = z.object({
  user_id: z.string(),
  tool_id: z.string(),
  slug: z.string(),
  server_url: z.string(),
  authorization_server: authorizationServerSchema,
  client_id: z.string(),
  client_secret_name: z.string().nullable(),
  client_secret: z.string().nullable(),
  redirect_url: z.string(),
  resource: z.string().nullable(),
  scope: z.string().nullable(),
  code_verifier: z.string(),
});

/** The next action of a caller that needs a newer token. */
export type RefreshTurn = z.infer<typeof turnSchema>;
const turnSchema = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("begun"),
    authorization_server: authorizationServerSchema,
    client_id: z.string(),
    client_secret: z.string().nullable(),
    resource: z.string().nullable(),
    refresh_token: z.string(),
  }),
  z.object({ kind: z.literal("busy") }),
  z.object({ kind: z.literal("renewed"), access_token: z.string(), generation: z.number() }),
  z.object({ kind: z.literal("ended") }),
]);

/** A connection that has just been deleted. */
export type EndedConnection = z.infer<typeof endedSchema>;
const endedSchema = z.object({
  authorization_server: authorizationServerSchema,
  client_id: z.string(),
  client_secret: z.string().nullable(),
  access_token: z.string().nullable(),
  refresh_token: z.string().nullable(),
});

/** Users' connections and pending authorizations. Every method throws `SwarmError`. */
export type ConnectionStore = ReturnType<typeof createConnectionStore>;

/** The store on a database connection as role postgres. */
// deno-lint-ignore explicit-module-boundary-types -- the type is that of the methods, named above
export function createConnectionStore(sql: Sql) {
  return { ...requestMethods(sql), ...clientMethods(sql), ...tokenMethods(sql) };
}

function requestMethods(sql: Sql) {
  return {
    /** Null if no such tool is registered and active. */
    findTool: (slug: string) =>
      attempt("find the tool", async () => {
        const [row] = await sql`
          select id, slug, type, config, credential_type
          from public.tools where slug = ${slug} and is_active`;
        return row === undefined ? null : toolSchema.parse(row);
      }),
    /** False if that client of the tool was first used with another issuer. */
    pinIssuer: (toolId: string, clientId: string, issuer: string) =>
      attempt("look up the client's issuer", async () => {
        const [row] = await sql<{ is_same: boolean }[]>`
          select private.pin_oauth_issuer(
            p_tool_id => ${toolId},
            p_client_id => ${clientId},
            p_issuer => ${issuer}
          ) as is_same`;
        return row?.is_same === true;
      }),
    /** @returns The expiry time of the authorization. */
    begin: (request: JsonObject) =>
      attempt("begin the authorization", async () => {
        const [row] = await sql<{ expires_at: Date }[]>`
          select private.begin_oauth(${sql.json(request)}) as expires_at`;
        return new Date(row?.expires_at ?? NaN).toISOString();
      }),
    /** Null if no such authorization is pending. */
    find: (stateHash: string) =>
      attempt("find the authorization", async () => {
        const [row] = await sql`select private.find_oauth_request(${stateHash}) as request`;
        return foundSchema.nullable().parse(row?.request ?? null);
      }),
    /** Succeeds once; null if the user has no such authorization, or it has expired. */
    take: (stateHash: string, userId: string) =>
      attempt("finish the authorization", async () => {
        const [row] = await sql`
          select private.take_oauth_request(${stateHash}, ${userId}) as request`;
        return requestSchema.nullable().parse(row?.request ?? null);
      }),
    recordConnection: (connection: JsonObject, tokens: JsonObject) =>
      attempt("store the connection", async () => {
        await sql`
          select private.record_oauth_connection(${sql.json(connection)}, ${sql.json(tokens)})`;
      }),
    /** Deletes the connection; null if there was none. */
    end: (slug: string, userId: string) =>
      attempt("end the connection", async () => {
        const [row] = await sql`select private.end_oauth_connection(${slug}, ${userId}) as ended`;
        return endedSchema.nullable().parse(row?.ended ?? null);
      }),
  };
}

function clientMethods(sql: Sql) {
  return {
    findClient: (issuer: string, redirectUrl: string): Promise<OAuthClient | null> =>
      attempt("find the registered client", async () => {
        const [row] = await sql`
          select private.oauth_client(${issuer}, ${redirectUrl}) as client`;
        const client = clientSchema.nullable().parse(row?.client ?? null);
        return client === null
          ? null
          : { clientId: client.client_id, clientSecretName: client.client_secret_name };
      }),
    recordClient: (client: JsonObject) =>
      attempt("keep the registered client", async () => {
        await sql`select private.record_oauth_client(${sql.json(client)})`;
      }),
    deleteClient: (issuer: string, clientId: string) =>
      attempt("delete the registered client", async () => {
        await sql`select private.delete_oauth_client(${issuer}, ${clientId})`;
      }),
  };
}

function tokenMethods(sql: Sql) {
  return {
    beginRefresh: ({ credentialId, generation }: OAuthToken) =>
      attempt("begin to renew the access token", async () => {
        const [row] = await sql`
          select private.begin_token_refresh(${credentialId}, ${generation}) as turn`;
        return turnSchema.parse(row?.turn);
      }),
    /** False if the connection has ended or been replaced in the meantime. */
    endRefresh: ({ credentialId, generation }: OAuthToken, tokens: JsonObject) =>
      attempt("store the renewed access token", async () => {
        const [row] = await sql<{ is_stored: boolean }[]>`
          select private.end_token_refresh(
            p_credential_id => ${credentialId},
            p_generation => ${generation},
            p_tokens => ${sql.json(tokens)}
          )
            as is_stored`;
        return row?.is_stored === true;
      }),
    failRefresh: ({ credentialId, generation }: OAuthToken, isRefused: boolean) =>
      attempt("note the failed renewal", async () => {
        await sql`
          select private.fail_token_refresh(
            p_credential_id => ${credentialId},
            p_generation => ${generation},
            p_is_refused => ${isRefused}
          )`;
      }),
  };
}
