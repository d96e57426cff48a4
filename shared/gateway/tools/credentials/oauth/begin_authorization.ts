import { randomBytes } from "node:crypto";
import type { JsonObject } from "../../../../platform/values/json.ts";
import { type McpServerConfig, parseToolConfig } from "../../../tool_contracts/tool_config.ts";
import { unknownServer } from "../../../tool_contracts/unknown_server.ts";
import { type Authority, findAuthority, oauthUnavailable } from "./authorization_server.ts";
import { chooseClient } from "./choose_client.ts";
import { issuerIdOf, oauthAddresses } from "./client_metadata.ts";
import type { ConnectableTool, ConnectionStore } from "./connection_store.ts";
import { isSameIssuer } from "./issuer.ts";
import { sha256Hex } from "../../../../platform/values/sha256_hex.ts";

/** The user and the tool server to connect. */
export interface AuthorizationOrder {
  readonly slug: string;
  readonly userId: string;
  /** The validated page that the browser goes to afterwards; null shows a plain page. */
  readonly returnTo: string | null;
  /** The project's URL as browsers reach it. */
  readonly publicUrl: string;
}

/** The dependencies of connecting users. */
export interface OAuthPorts {
  readonly store: ConnectionStore;
  /** A `fetch` that refuses private addresses. */
  readonly guardedFetch: typeof fetch;
}

/** The URL to open in the user's browser. */
export interface BegunAuthorization {
  readonly authorizationUrl: string;
  /** The redirect URL to register with the authorization server. */
  readonly redirectUrl: string;
  readonly expiresAt: string;
}

/**
 * Starts connecting a user to a tool server: finds its authorization server, registers as its
 * client and stores, for ten minutes, the state that the response must match.
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
  if (parsed.type !== "mcp_server") throw oauthUnavailable(slug, "it is not an MCP server");
  if (tool.credential_type === "none") throw oauthUnavailable(slug, "it does not use a credential");
  const { mcp_url: serverUrl, oauth } = parsed.config;

  const authority = await findAuthority(slug, serverUrl, guardedFetch);
  const { issuer } = authority.server;
  await assertIssuer(tool, oauth, issuer, store);
  const addresses = oauthAddresses(publicUrl, issuerIdOf(issuer));
  const client = await chooseClient({ slug, oauth, server: authority.server, addresses }, ports);
  const { startAuthorization } = await import("../../../../vendor/mcp_client.js");
  const state = randomBytes(32).toString("hex");
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
    state_hash: sha256Hex(state),
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
 * A client that an operator registered, with its secret, belongs to one issuer: a different issuer
 * named later by the tool server is rejected.
 */
async function assertIssuer(
  { id, slug }: ConnectableTool,
  oauth: McpServerConfig["oauth"],
  issuer: string,
  store: Pick<ConnectionStore, "pinIssuer">,
): Promise<void> {
  if (oauth?.issuer !== undefined && !isSameIssuer(oauth.issuer, issuer)) {
    throw oauthUnavailable(
      slug,
      `its authorization server is '${issuer}', but oauth.issuer is '${oauth.issuer}'`,
    );
  }
  if (oauth?.client_id === undefined || oauth.issuer !== undefined) return;
  if (await store.pinIssuer(id, oauth.client_id, issuer)) return;
  throw oauthUnavailable(
    slug,
    "it names a different authorization server than when its client was first used; the operator can " +
      "set oauth.issuer",
  );
}

/** Without `offline_access` many servers issue no refresh token. */
function scopeOf({ server, scope }: Authority, configured: string | undefined): string | null {
  const wanted = configured ?? scope;
  if (wanted === null || !server.scopes_supported?.includes("offline_access")) return wanted;
  return [...new Set([...wanted.split(" "), "offline_access"])].join(" ");
}
