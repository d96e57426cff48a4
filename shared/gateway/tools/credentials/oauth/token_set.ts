import type { JsonObject } from "../../../../platform/values/json.ts";
import type { OAuthTokens } from "../../../../vendor/mcp_client.js";

/** The longest accepted lifetime of a token: ten years. */
const MAX_LIFETIME_SECONDS = 315_360_000;

/** Granted tokens in the form for the database. */
export function toTokenSet(tokens: OAuthTokens): JsonObject {
  const { access_token, refresh_token, expires_in, scope } = tokens;
  return {
    access_token,
    refresh_token: refresh_token ?? null,
    expires_in: expires_in === undefined
      ? null
      : Math.min(Math.max(expires_in, 0), MAX_LIFETIME_SECONDS),
    scope: scope ?? null,
  };
}

/** A client in the form for the SDK. */
export function clientInformationOf(
  client: { readonly client_id: string; readonly client_secret: string | null },
): { client_id: string; client_secret?: string } {
  const { client_id, client_secret } = client;
  return client_secret === null ? { client_id } : { client_id, client_secret };
}
