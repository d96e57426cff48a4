import { sleep } from "../../../sleep.ts";
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

/** A token to use, and which of its connection it is. */
export interface RenewedToken {
  readonly accessToken: string;
  readonly generation: number;
}

/** Longer than the one request that a renewal takes. */
const MAX_WAIT_MS = 15_000;
const POLL_MS = 50;

/**
 * A token newer than the given one. Of all who want it at once, in whatever instance, one asks the
 * authorization server and the others wait: a refresh token that is spent twice ends the connection.
 *
 * Nothing breaks it off once it is begun, so that a rotated refresh token is stored.
 *
 * @throws SwarmError `AUTHORIZATION_REQUIRED` when the user has to connect again, `TOOL_UNAVAILABLE`.
 */
export async function renewToken(
  slug: string,
  token: OAuthToken,
  ports: OAuthPorts,
): Promise<RenewedToken> {
  const patience = new AbortController().signal;
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
        await sleep(POLL_MS, patience);
    }
  }
}

async function refresh(
  slug: string,
  token: OAuthToken,
  turn: Extract<RefreshTurn, { kind: "begun" }>,
  { store, guardedFetch }: OAuthPorts,
): Promise<RenewedToken> {
  const { refreshAuthorization } = await import("../../../vendor/mcp_client.js");
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
    if (isClientUnknown(failure)) await store.forgetClient(server.issuer, turn.client_id);
    throw failure.kind === "refused"
      ? authorizationRequired(slug)
      : authorizationServerUnavailable(slug);
  });
  const isStored = await store.endRefresh(token, toTokenSet(tokens));
  // The user has disconnected meanwhile, or connected anew.
  if (!isStored) throw authorizationRequired(slug);
  return { accessToken: tokens.access_token, generation: token.generation + 1 };
}
