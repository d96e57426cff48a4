import type { JsonObject } from "../../../json.ts";
import { type McpServerConfig, parseToolConfig } from "../../../tool_contracts/tool_config.ts";
import { unknownServer } from "../../../tool_contracts/unknown_server.ts";
import { type Authority, findAuthority, oauthUnavailable } from "./authorization_server.ts";
import { chooseClient } from "./choose_client.ts";
import { issuerIdOf, oauthAddresses } from "./client_metadata.ts";
import type { ConnectableTool, ConnectionStore } from "./connection_store.ts";
import { hashState } from "./hash_state.ts";

/** Who wants to connect to what. */
export interface AuthorizationOrder {
  readonly slug: string;
  readonly userId: string;
  /** Page that the browser goes to afterwards; it has been checked. Null: a plain page of ours. */
  readonly returnTo: string | null;
  /** Of the project, as browsers reach it. */
  readonly publicUrl: string;
}

/** What users are connected with. */
export interface OAuthPorts {
  readonly store: ConnectionStore;
  /** Guarded against private addresses. */
  readonly guardedFetch: typeof fetch;
}

/** Where the user's browser goes. */
export interface BegunAuthorization {
  readonly authorizationUrl: string;
  /** What the authorization server has to know as the client's. */
  readonly redirectUrl: string;
  readonly expiresAt: string;
}

/**
 * Begins to connect a user to a tool server: finds out who authorises it, becomes that server's
 * client and remembers, for ten minutes, what the answer has to fit.
 *
 * @throws SwarmError `TOOL_NOT_FOUND`, `TOOL_CONFIG_INVALID`, `OAUTH_UNAVAILABLE`,
 * `TOOL_UNAVAILABLE`, `TOOL_ADDRESS_FORBIDDEN`.
 */
export async function beginAuthorization(
  { slug, userId, returnTo, publicUrl }: AuthorizationOrder,
  ports: OAuthPorts,
): Promise<BegunAuthorization> {
  const { store, guardedFetch } = ports;
  const tool = await store.findTool(slug);
  if (tool === null) throw unknownServer(slug);
  const parsed = parseToolConfig(slug, tool.type, tool.config);
  if (parsed.type !== "mcp_server") throw oauthUnavailable(slug, "it is no MCP server");
  if (tool.credential_type === "none") throw oauthUnavailable(slug, "it takes no credential");
  const { mcp_url: serverUrl, oauth } = parsed.config;

  const authority = await findAuthority(slug, serverUrl, guardedFetch);
  const { issuer } = authority.server;
  await assertIssuer(tool, oauth, issuer, store);
  const addresses = oauthAddresses(publicUrl, await issuerIdOf(issuer));
  const client = await chooseClient(
    { slug, oauth, server: authority.server, addresses },
    ports,
  );
  const { startAuthorization } = await import("../../../vendor/mcp_client.js");
  const state = randomState();
  const scope = scopeOf(authority, oauth?.scope);
  const { server, resource } = authority;
  const { authorizationUrl, codeVerifier } = await startAuthorization(server.issuer, {
    metadata: server,
    clientInformation: { client_id: client.clientId },
    redirectUrl: addresses.redirectUrl,
    state,
    ...(scope === null ? {} : { scope }),
    ...(resource === null ? {} : { resource }),
  });
  const expiresAt = await store.begin({
    state_hash: await hashState(state),
    user_id: userId,
    tool_id: tool.id,
    code_verifier: codeVerifier,
    server_url: serverUrl,
    authorization_server: server as unknown as JsonObject,
    client_id: client.clientId,
    client_secret_name: client.clientSecretName,
    redirect_url: addresses.redirectUrl,
    resource,
    scope,
    return_to: returnTo,
  });
  const { redirectUrl } = addresses;
  return { authorizationUrl: authorizationUrl.href, redirectUrl, expiresAt };
}

/**
 * A client that an operator registered, with its secret, is for one issuer: a tool server that names
 * another one later is not believed.
 */
async function assertIssuer(
  { id, slug }: ConnectableTool,
  oauth: McpServerConfig["oauth"],
  issuer: string,
  store: Pick<ConnectionStore, "pinIssuer">,
): Promise<void> {
  if (oauth?.issuer !== undefined && oauth.issuer !== issuer) {
    throw oauthUnavailable(slug, `its authorization server is not ${oauth.issuer}`);
  }
  if (oauth?.client_id === undefined || oauth.issuer !== undefined) return;
  if (await store.pinIssuer(id, oauth.client_id, issuer)) return;
  throw oauthUnavailable(
    slug,
    "it names another authorization server than when its client was first used; the operator can " +
      "set oauth.issuer",
  );
}

/** Without `offline_access` many servers grant nothing that outlives an hour. */
function scopeOf({ server, scope }: Authority, configured: string | undefined): string | null {
  const wanted = configured ?? scope;
  if (wanted === null || !server.scopes_supported?.includes("offline_access")) return wanted;
  return [...new Set([...wanted.split(" "), "offline_access"])].join(" ");
}

function randomState(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
