import { SwarmError } from "../../../../platform/errors/swarm_error.ts";
import type { McpServerConfig } from "../../../tool_contracts/tool_config.ts";
import { type AuthorizationServer, oauthUnavailable } from "./authorization_server.ts";
import { clientMetadataOf, type OAuthAddresses } from "./client_metadata.ts";
import type { ConnectionStore, OAuthClient } from "./connection_store.ts";
import { readOAuthFailure } from "./oauth_failure.ts";
import { createOAuthFetch } from "./oauth_fetch.ts";

/** The inputs for choosing a client. */
export interface ClientChoice {
  readonly slug: string;
  readonly oauth: McpServerConfig["oauth"];
  readonly server: AuthorizationServer;
  readonly addresses: OAuthAddresses;
}

/** The dependencies for choosing a client. */
export interface ClientPorts {
  readonly store: Pick<ConnectionStore, "findClient" | "recordClient">;
  readonly guardedFetch: typeof fetch;
}

/**
 * This project's client at the authorization server: as registered by an operator, otherwise its
 * metadata document, otherwise registered dynamically, once for all users.
 *
 * @throws SwarmError `OAUTH_UNAVAILABLE`, `TOOL_UNAVAILABLE`.
 */
export async function chooseClient(
  { slug, oauth, server, addresses }: ClientChoice,
  { store, guardedFetch }: ClientPorts,
): Promise<OAuthClient> {
  if (oauth?.client_id !== undefined) {
    const clientSecretName = oauth.client_secret?.secret ?? null;
    return { clientId: oauth.client_id, clientSecretName };
  }
  const { documentUrl, redirectUrl } = addresses;
  const readsDocuments = server.client_id_metadata_document_supported === true;
  // The authorization server must be able to fetch the document, and requires TLS.
  if (readsDocuments && documentUrl.startsWith("https:")) {
    return { clientId: documentUrl, clientSecretName: null };
  }
  const known = await store.findClient(server.issuer, redirectUrl);
  if (known !== null) return known;
  if (server.registration_endpoint === undefined) {
    throw oauthUnavailable(
      slug,
      "its authorization server does not support dynamic client registration",
    );
  }
  await store.recordClient(await register(slug, server, addresses, guardedFetch));
  const saved = await store.findClient(server.issuer, redirectUrl);
  if (saved === null) throw oauthUnavailable(slug, "the registration has already expired");
  return saved;
}

async function register(
  slug: string,
  server: AuthorizationServer,
  addresses: OAuthAddresses,
  guardedFetch: typeof fetch,
) {
  const { registerClient, RegistrationRejectedError, resolveClientMetadata } = await import(
    "../../../../vendor/mcp_client.js"
  );
  const { redirectUrl } = addresses;
  const clientMetadata = resolveClientMetadata(
    {
      redirectUrl,
      clientMetadata: {
        ...clientMetadataOf(addresses),
        token_endpoint_auth_method: authMethodOf(server),
      },
    } as Parameters<typeof resolveClientMetadata>[0],
  );
  try {
    const client = await registerClient(server.issuer, {
      metadata: server,
      clientMetadata,
      fetchFn: createOAuthFetch(guardedFetch),
    });
    return {
      issuer: server.issuer,
      redirect_url: redirectUrl,
      client_id: client.client_id,
      client_secret: client.client_secret ?? null,
      expires_at_seconds: client.client_secret_expires_at ?? null,
    };
  } catch (error) {
    if (error instanceof SwarmError) throw error;
    if (!(error instanceof RegistrationRejectedError)) await readOAuthFailure(error);
    throw oauthUnavailable(slug, "its authorization server refused to register this project");
  }
}

/** A server can keep secrets, so it prefers a method with a client secret. */
function authMethodOf({ token_endpoint_auth_methods_supported: supported }: AuthorizationServer) {
  // RFC 8414's default.
  if (supported === undefined) return "client_secret_basic";
  return ["client_secret_basic", "client_secret_post", "none"]
    .find((method) => supported.includes(method)) ?? "none";
}
