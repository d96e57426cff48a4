import { SwarmError } from "../../platform/errors/swarm_error.ts";
import { isJsonObject } from "../../platform/values/json.ts";
import type { AuthPlacement } from "./tool_config.ts";

/** A resolved credential. It is held in memory for one call only. */
export interface Credential {
  readonly secret: string;
  /** Names it in messages, such as `the secret 'CRM_KEY'`. */
  readonly label: string;
  readonly placement: AuthPlacement;
  /** For a user-authorized access token: its connection and generation. */
  readonly connection?: OAuthToken;
}

/** The {@linkcode Credential.label} of a secret in Vault. */
export function secretLabel(name: string): string {
  return `the secret '${name}'`;
}

/** Identifies one token of a user's own connection. */
export interface OAuthToken {
  readonly credentialId: string;
  /** See `private.oauth_connections.generation`. */
  readonly generation: number;
}

/** How credentials are sent if the tool's config does not specify it. */
const DEFAULT_PLACEMENTS: Readonly<Record<string, AuthPlacement>> = {
  bearer_token: { in: "header", name: "Authorization", prefix: "Bearer " },
  api_key: { in: "header", name: "X-API-Key" },
};

/**
 * Where a credential of that type is placed: as configured, otherwise by its type.
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
    `Cannot send a credential of type '${credentialType}' directly`,
    { hint: "Set credential_type to api_key or bearer_token, or name the place in config.auth." },
  );
}

/** Puts a credential into a request's URL or headers, replacing an existing value. */
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
      `Cannot send ${credential.label} in the header '${placement.name}': ` +
        "it has characters that are not allowed in a header",
      { hint: "Store it again without line breaks." },
    );
  }
}

/** Creates the error for a server that rejects a credential or requires a missing one. */
export function refusedCredential(
  server: string,
  status: number,
  credential: Credential | null,
): SwarmError {
  const details = { server, http_status: status };
  if (credential === null) {
    return new SwarmError(
      "TOOL_AUTH_FAILED",
      `The tool server '${server}' requires a credential (HTTP ${status}), but none is registered`,
      { hint: "Name a Vault secret in credential_secret_name of its row in tools.", details },
    );
  }
  const { label, connection } = credential;
  const hint = connection === undefined
    ? `Check that ${label} is valid and has the required permissions.`
    : `Ask the user to connect to '${server}' again with an account that has the required permissions.`;
  return new SwarmError(
    "TOOL_AUTH_FAILED",
    `The tool server '${server}' rejected ${label} (HTTP ${status})`,
    { hint, details },
  );
}

/** Whether a server rejected the token itself, so that a renewed one may work. */
export function isRefusedToken(error: unknown): boolean {
  return error instanceof SwarmError && error.code === "TOOL_AUTH_FAILED" &&
    isJsonObject(error.details) && error.details.http_status === 401;
}
