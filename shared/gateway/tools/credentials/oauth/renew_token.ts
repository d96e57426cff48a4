import { sleep } from "../../../../platform/values/sleep.ts";
import { authorizationRequired } from "../../../tool_contracts/authorization_required.ts";
import type { OAuthToken } from "../../../tool_contracts/credential.ts";
import type { OAuthPorts } from "./begin_authorization.ts";
import type { RefreshTurn } from "./connection_store.ts";
import {
  authorizationServerUnavailable,
  isClientUnknown,
  readOAuthFailure,
} from "./oauth_failure.ts";
import { createOAuthFetch } from "./oauth_fetch.ts";
import { clientInformationOf, toTokenSet } from "./token_set.ts";

/** A token and its generation within the connection. */
export interface RenewedToken {
  readonly accessToken: string;
  readonly generation: number;
}

/** Longer than the single request of a renewal. */
const MAX_WAIT_MS = 15_000;
const POLL_MS = 50;

/**
 * Returns a token newer than the given one. Of all concurrent callers, in any instance, one calls
 * the authorization server and the others wait: using a refresh token twice would end the
 * connection.
 *
 * It is not interrupted after it starts, so that a rotated refresh token is stored.
 *
 * @throws SwarmError `AUTHORIZATION_REQUIRED` if the user must connect again, `TOOL_UNAVAILABLE`.
 */
export async function renewToken(
  slug: string,
  token: OAuthToken,
  ports: OAuthPorts,
): Promise<RenewedToken> {
  const neverAborts = new AbortController().signal;
  const giveUpAtMs = performance.now() + MAX_WAIT_MS;
  while (true) {
    const turn = await ports.store.beginRefresh(token);
    switch (turn.kind) {
      case "renewed":
        return { accessToken: turn.access_token, generation: turn.generation };
      case "ended":
        throw authorizationRequired(slug);
      case "begun":
        return await refresh(slug, token, turn, ports);
      case "busy":
        if (performance.now() > giveUpAtMs) throw authorizationServerUnavailable(slug);
        await sleep(POLL_MS, neverAborts);
    }
  }
}

async function refresh(
  slug: string,
  token: OAuthToken,
  turn: Extract<RefreshTurn, { kind: "begun" }>,
  { store, guardedFetch }: OAuthPorts,
): Promise<RenewedToken> {
  const { refreshAuthorization } = await import("../../../../vendor/mcp_client.js");
  const { authorization_server: server, resource } = turn;
  const tokens = await refreshAuthorization(server.issuer, {
    metadata: server,
    clientInformation: clientInformationOf(turn),
    refreshToken: turn.refresh_token,
    fetchFn: createOAuthFetch(guardedFetch),
    ...(resource === null ? {} : { resource }),
  }).catch(async (error) => {
    const failure = await readOAuthFailure(error).catch(async (known) => {
      await store.failRefresh(token, false);
      throw known;
    });
    await store.failRefresh(token, failure.kind === "refused");
    if (isClientUnknown(failure)) await store.deleteClient(server.issuer, turn.client_id);
    throw failure.kind === "refused"
      ? authorizationRequired(slug)
      : authorizationServerUnavailable(slug);
  });
  const isStored = await store.endRefresh(token, toTokenSet(tokens));
  // The user has disconnected or reconnected in the meantime.
  if (!isStored) throw authorizationRequired(slug);
  return { accessToken: tokens.access_token, generation: token.generation + 1 };
}
