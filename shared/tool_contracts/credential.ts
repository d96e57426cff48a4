import { SwarmError } from "../errors/swarm_error.ts";
import { isJsonObject } from "../json.ts";
import type { AuthPlacement } from "./tool_config.ts";

/** A resolved credential. It lives in memory for one call. */
export interface Credential {
  readonly secret: string;
  /** Its name in Vault, for error messages. */
  readonly secretName: string;
  readonly placement: AuthPlacement;
  /** Of an access token that a user authorised: which connection it is of, and which of its tokens. */
  readonly connection?: OAuthToken;
}

/** Names one token of a user's own connection. */
export interface OAuthToken {
  readonly credentialId: string;
  /** See `private.oauth_connections.generation`. */
  readonly generation: number;
}

/** How credentials are sent where the tool's config does not say. */
const DEFAULT_PLACEMENTS: Readonly<Record<string, AuthPlacement>> = {
  bearer_token: { in: "header", name: "Authorization", prefix: "Bearer " },
  api_key: { in: "header", name: "X-API-Key" },
};

/**
 * Where a credential of that type goes: as the config says, else by its type.
 *
 * @throws SwarmError `TOOL_CONFIG_INVALID` for a type that cannot be sent without being exchanged
 * first.
 */
export function placementOf(
  credentialType: string | null,
  auth: AuthPlacement | undefined,
): AuthPlacement {
  const placement = auth ?? DEFAULT_PLACEMENTS[credentialType ?? "bearer_token"];
  if (placement !== undefined) return placement;
  throw new SwarmError(
    "TOOL_CONFIG_INVALID",
    `Cannot send a credential of type '${credentialType}' as it is`,
    { hint: "Set credential_type to api_key or bearer_token, or name the place in config.auth." },
  );
}

/** Puts a credential into a request's URL or headers, replacing what stood there. */
export function applyCredential(
  credential: Credential | null,
  request: { readonly url: URL; readonly headers: Headers },
): void {
  if (credential === null) return;
  const { placement, secret } = credential;
  const value = `${placement.prefix ?? ""}${secret}`;
  if (placement.in === "query") {
    request.url.searchParams.set(placement.name, value);
    return;
  }
  try {
    request.headers.set(placement.name, value);
  } catch {
    // The runtime's own message would quote the secret; a pasted key often ends in a line break.
    throw new SwarmError(
      "SECRET_INVALID",
      `Cannot send the secret '${credential.secretName}' in the header '${placement.name}': ` +
        "it has characters that no header may have",
      { hint: "Store it again without line breaks." },
    );
  }
}

/** The error for a server that refuses a credential, or asks for one that is not there. */
export function refusedCredential(
  server: string,
  status: number,
  credential: Credential | null,
): SwarmError {
  const details = { server, http_status: status };
  if (credential === null) {
    return new SwarmError(
      "TOOL_AUTH_FAILED",
      `The tool server '${server}' asks for a credential (HTTP ${status}) and none is registered`,
      { hint: "Name a Vault secret in credential_secret_name of its row in tools.", details },
    );
  }
  const { secretName, connection } = credential;
  const hint = connection === undefined
    ? `Check that the secret '${secretName}' is valid and may do this.`
    : `Ask the user to connect to '${server}' again, with an account that may do this.`;
  return new SwarmError(
    "TOOL_AUTH_FAILED",
    `The tool server '${server}' refuses the secret '${secretName}' (HTTP ${status})`,
    { hint, details },
  );
}

/** Whether a server refused the token itself, so that a renewed one may pass. */
export function isRefusedToken(error: unknown): boolean {
  return error instanceof SwarmError && error.code === "TOOL_AUTH_FAILED" &&
    isJsonObject(error.details) && error.details.http_status === 401;
}
