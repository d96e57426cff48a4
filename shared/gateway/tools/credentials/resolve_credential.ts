import type { Sql } from "../../../platform/db/sql_client.ts";
import { authorizationRequired } from "../../tool_contracts/authorization_required.ts";
import {
  type Credential,
  type OAuthToken,
  placementOf,
  secretLabel,
} from "../../tool_contracts/credential.ts";
import { createConnectionStore } from "./oauth/connection_store.ts";
import { renewToken } from "./oauth/renew_token.ts";
import type { AuthPlacement, ToolConfig } from "../../tool_contracts/tool_config.ts";
import type { CredentialUse, SecretSource } from "../../tool_contracts/tool_store.ts";
import type { RegisteredTool } from "../../tool_contracts/tool_records.ts";

/** The dependencies for renewing tokens. */
export interface RenewalPorts {
  readonly sql: Sql;
  /** A `fetch` that refuses private addresses. */
  readonly guardedFetch: typeof fetch;
}

/** The dependencies for resolving credentials. */
export interface CredentialPorts extends RenewalPorts {
  readonly source: Pick<SecretSource, "resolveCredential">;
}

/**
 * The protocol defines only this place for access tokens, regardless of the tool's own credential.
 */
const BEARER: AuthPlacement = { in: "header", name: "Authorization", prefix: "Bearer " };

/**
 * The credential of a call: the user's own, otherwise the tool's; null if there is none. The token
 * of a user's connection is renewed before it expires. While a connection is broken there is no
 * fallback, because the call would act as somebody else.
 *
 * @throws SwarmError `AUTHORIZATION_REQUIRED`, `CREDENTIAL_REQUIRED`, `SECRET_NOT_FOUND`, `TOOL_CONFIG_INVALID`,
 * `TOOL_UNAVAILABLE`.
 */
export async function resolveCredential(
  tool: RegisteredTool,
  parsed: ToolConfig,
  use: CredentialUse,
  ports: CredentialPorts,
): Promise<Credential | null> {
  if (tool.credential_type === "none") return null;
  const { secret, is_own: isOwn, connection } = await ports.source.resolveCredential(use);
  if (connection !== null) {
    if (connection.needs_authorization) throw authorizationRequired(tool.slug);
    const { credential_id: credentialId, generation, is_stale: isStale } = connection;
    const token = { credentialId, generation };
    if (!isStale && secret !== null) return ofConnection(tool.slug, secret, token);
    return await renewed(tool.slug, token, ports);
  }
  if (secret === null) return null;
  const auth = "auth" in parsed.config ? parsed.config.auth : undefined;
  return {
    secret,
    label: isOwn || tool.credential_secret_name === null
      ? ownLabel(tool.slug)
      : secretLabel(tool.credential_secret_name),
    placement: placementOf(tool.credential_type, auth),
  };
}

/**
 * Returns a newer token to replace one that the server rejected.
 *
 * @throws SwarmError `AUTHORIZATION_REQUIRED`, `TOOL_UNAVAILABLE`.
 */
export async function renewCredential(
  slug: string,
  { connection }: Credential,
  ports: RenewalPorts,
): Promise<Credential> {
  if (connection === undefined) {
    throw new Error("Cannot renew the credential: only tokens of connections can be renewed");
  }
  return await renewed(slug, connection, ports);
}

async function renewed(
  slug: string,
  token: OAuthToken,
  { sql, guardedFetch }: RenewalPorts,
): Promise<Credential> {
  const store = createConnectionStore(sql);
  const { accessToken, generation } = await renewToken(slug, token, { store, guardedFetch });
  return ofConnection(slug, accessToken, { ...token, generation });
}

function ofConnection(slug: string, secret: string, connection: OAuthToken): Credential {
  return { secret, label: ownLabel(slug), placement: BEARER, connection };
}

function ownLabel(slug: string): string {
  return `the caller's own credential for '${slug}'`;
}
