import { SwarmError } from "../../../../platform/errors/swarm_error.ts";
import type { OAuthPorts } from "./begin_authorization.ts";
import type { EndedConnection } from "./connection_store.ts";
import { createOAuthFetch } from "./oauth_fetch.ts";
import { clientInformationOf } from "./token_set.ts";

/**
 * Ends a user's connection: permanently here, and at its authorization server if that supports
 * token revocation (RFC 7009) and responds.
 *
 * @returns Whether the authorization server revoked the grant.
 * @throws SwarmError `AUTHORIZATION_INVALID` if there is no connection.
 */
export async function endConnection(
  slug: string,
  userId: string,
  { store, guardedFetch }: OAuthPorts,
): Promise<boolean> {
  const ended = await store.end(slug, userId);
  if (ended === null) {
    throw new SwarmError("AUTHORIZATION_INVALID", `You are not connected to '${slug}' by OAuth`, {
      hint: "To delete a key that you stored, call set_tool_credential() with null.",
    });
  }
  try {
    return await revoke(ended, createOAuthFetch(guardedFetch));
  } catch {
    // The tokens are deleted here; the response reports that they were not revoked.
    return false;
  }
}

async function revoke(
  ended: EndedConnection,
  send: ReturnType<typeof createOAuthFetch>,
): Promise<boolean> {
  const { authorization_server: server, refresh_token, access_token } = ended;
  // Revoking the refresh token ends the whole grant.
  const token = refresh_token ?? access_token;
  if (server.revocation_endpoint === undefined || token === null) return false;
  const { assertSecureTokenEndpoint, selectClientAuthMethod } = await import(
    "../../../../vendor/mcp_client.js"
  );
  const client = clientInformationOf(ended);
  const methods = server.revocation_endpoint_auth_methods_supported ??
    server.token_endpoint_auth_methods_supported ?? [];
  const headers = new Headers({ accept: "application/json" });
  const { client_id, client_secret = "" } = client;
  const body = new URLSearchParams({
    token,
    token_type_hint: refresh_token === null ? "access_token" : "refresh_token",
  });
  if (selectClientAuthMethod(client, [...methods]) === "client_secret_basic") {
    headers.set("authorization", `Basic ${btoa(`${client_id}:${client_secret}`)}`);
  } else {
    body.set("client_id", client_id);
    if (client_secret !== "") body.set("client_secret", client_secret);
  }
  const response = await send(assertSecureTokenEndpoint(server.revocation_endpoint), {
    method: "POST",
    headers,
    body,
    redirect: "error",
  });
  await response.body?.cancel();
  return response.ok;
}
