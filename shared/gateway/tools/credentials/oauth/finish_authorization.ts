import { SwarmError } from "../../../../platform/errors/swarm_error.ts";
import type { JsonObject } from "../../../../platform/values/json.ts";
import type { OAuthPorts } from "./begin_authorization.ts";
import { type AuthorizationAnswer, invalidAuthorization } from "./confirmation.ts";
import { isSameIssuer } from "./issuer.ts";
import type { TakenRequest } from "./connection_store.ts";
import {
  authorizationServerUnavailable,
  isClientUnknown,
  readOAuthFailure,
} from "./oauth_failure.ts";
import { createOAuthFetch } from "./oauth_fetch.ts";
import { clientInformationOf, toTokenSet } from "./token_set.ts";
import { sha256Hex } from "../../../../platform/values/sha256_hex.ts";

/**
 * Connects a user after authorization: consumes the pending authorization once, checks the issuer,
 * and exchanges the code for tokens, which are stored in Vault.
 *
 * @returns The slug of the tool server.
 * @throws SwarmError `AUTHORIZATION_INVALID`, `AUTHORIZATION_REFUSED`, `TOOL_UNAVAILABLE`.
 */
export async function finishAuthorization(
  answer: AuthorizationAnswer,
  userId: string,
  ports: OAuthPorts,
): Promise<string> {
  const { store } = ports;
  const request = await store.take(sha256Hex(answer.state), userId);
  if (request === null) throw invalidAuthorization();
  const tokens = await exchange(request, answer, ports);
  const { client_secret: _, code_verifier: __, ...connection } = request;
  await store.recordConnection(connection as unknown as JsonObject, tokens);
  return request.slug;
}

async function exchange(
  request: TakenRequest,
  { code, iss }: AuthorizationAnswer,
  { store, guardedFetch }: OAuthPorts,
): Promise<JsonObject> {
  const { exchangeAuthorization, IssuerMismatchError } = await import(
    "../../../../vendor/mcp_client.js"
  );
  const { slug, authorization_server: server, resource } = request;
  try {
    return toTokenSet(
      await exchangeAuthorization(server.issuer, {
        metadata: server,
        clientInformation: clientInformationOf(request),
        authorizationCode: code,
        codeVerifier: request.code_verifier,
        redirectUri: request.redirect_url,
        fetchFn: createOAuthFetch(guardedFetch),
        ...(iss === undefined
          ? {}
          : { iss: isSameIssuer(iss, server.issuer) ? server.issuer : iss }),
        ...(resource === null ? {} : { resource }),
      }),
    );
  } catch (error) {
    if (error instanceof IssuerMismatchError) {
      throw invalidAuthorization(
        `the answer is of '${iss ?? "no issuer"}', but '${server.issuer}' was asked`,
      );
    }
    const failure = await readOAuthFailure(error);
    if (isClientUnknown(failure)) await store.deleteClient(server.issuer, request.client_id);
    if (failure.kind === "unavailable") throw authorizationServerUnavailable(slug);
    throw new SwarmError(
      "AUTHORIZATION_REFUSED",
      `Cannot connect to '${slug}': its authorization server rejected the code (${failure.code})`,
      { hint: "Begin again.", details: { server: slug, oauth_error: failure.code } },
    );
  }
}
