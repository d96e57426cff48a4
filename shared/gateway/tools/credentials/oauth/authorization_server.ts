import { z } from "../../../../vendor/zod.js";
import { definedOnly } from "../../../../platform/values/defined_only.ts";
import { SwarmError } from "../../../../platform/errors/swarm_error.ts";
import { createOAuthFetch } from "./oauth_fetch.ts";
import { authorizationServerUnavailable } from "./oauth_failure.ts";

const optionalTexts = z.array(z.string()).optional().catch(undefined);

/** The required part of an authorization server's metadata (RFC 8414). */
export type AuthorizationServer = z.infer<typeof authorizationServerSchema>;
/** See {@linkcode AuthorizationServer}. */
export const authorizationServerSchema = z.object({
  issuer: z.string(),
  authorization_endpoint: z.string(),
  token_endpoint: z.string(),
  registration_endpoint: z.string().optional(),
  revocation_endpoint: z.string().optional(),
  response_types_supported: z.array(z.string()),
  scopes_supported: optionalTexts,
  token_endpoint_auth_methods_supported: optionalTexts,
  revocation_endpoint_auth_methods_supported: optionalTexts,
  code_challenge_methods_supported: optionalTexts,
  client_id_metadata_document_supported: z.boolean().optional().catch(undefined),
  authorization_response_iss_parameter_supported: z.boolean().optional().catch(undefined),
});

/** The authorization server of a tool server, with resource and scopes. */
export interface Authority {
  readonly server: AuthorizationServer;
  /**
   * The resource that tokens are requested for (RFC 8707); null if the tool server does not declare
   * one.
   */
  readonly resource: string | null;
  /** Scopes that the tool server requests. */
  readonly scope: string | null;
}

/**
 * Finds the authorization server of a tool server: its challenge, the metadata of the resource (RFC
 * 9728), the metadata of the authorization server. A server without PKCE is rejected.
 *
 * @throws SwarmError `OAUTH_UNAVAILABLE`, `TOOL_UNAVAILABLE`, `TOOL_ADDRESS_FORBIDDEN`.
 */
export async function findAuthority(
  slug: string,
  serverUrl: string,
  guardedFetch: typeof fetch,
): Promise<Authority> {
  const sdk = await import("../../../../vendor/mcp_client.js");
  const fetchFn = createOAuthFetch(guardedFetch);
  const challenge = await askChallenge(serverUrl, fetchFn).catch((error) => {
    throw error instanceof SwarmError ? error : authorizationServerUnavailable(slug);
  });
  const { resourceMetadataUrl } = challenge;
  const found = await sdk.discoverOAuthServerInfo(serverUrl, {
    fetchFn,
    ...definedOnly({ resourceMetadataUrl }),
  }).catch((error) => {
    if (error instanceof SwarmError) throw error;
    throw oauthUnavailable(slug, "its metadata cannot be read");
  });
  const { resourceMetadata, authorizationServerMetadata } = found;
  const parsed = authorizationServerSchema.safeParse(authorizationServerMetadata);
  if (!parsed.success) throw oauthUnavailable(slug, "it does not name an authorization server");
  if (!parsed.data.code_challenge_methods_supported?.includes("S256")) {
    throw oauthUnavailable(slug, "its authorization server does not support PKCE with S256");
  }
  const isOther = resourceMetadata !== undefined && !sdk.checkResourceAllowed({
    requestedResource: sdk.resourceUrlFromServerUrl(serverUrl),
    configuredResource: resourceMetadata.resource,
  });
  if (isOther) throw oauthUnavailable(slug, "its metadata describes another resource");
  return {
    server: parsed.data,
    resource: resourceMetadata?.resource ?? null,
    scope: challenge.scope ?? resourceMetadata?.scopes_supported?.join(" ") ?? null,
  };
}

/** Creates the error for a tool server that does not support connecting by OAuth. */
export function oauthUnavailable(slug: string, reason: string): SwarmError {
  return new SwarmError("OAUTH_UNAVAILABLE", `Cannot connect to '${slug}' by OAuth: ${reason}`, {
    hint: "Store your own key with set_tool_credential(), or ask the server's operator.",
  });
}

/** The server's response to a request without a token. */
async function askChallenge(serverUrl: string, send: ReturnType<typeof createOAuthFetch>) {
  const { extractWWWAuthenticateParams } = await import("../../../../vendor/mcp_client.js");
  const response = await send(serverUrl, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" }),
  });
  await response.body?.cancel();
  return response.status === 401 ? extractWWWAuthenticateParams(response) : {};
}
