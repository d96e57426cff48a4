import { hashState } from "./hash_state.ts";

/** Name of the edge function through which users connect. */
export const OAUTH_FUNCTION = "mcp-oauth";

/** Addresses of the function for one issuer, as browsers and authorization servers reach it. */
export interface OAuthAddresses {
  readonly redirectUrl: string;
  /** Serves {@linkcode clientMetadataOf}; it is the client's id where that is supported. */
  readonly documentUrl: string;
}

/** Path of an address of one issuer: what it is for, and {@linkcode issuerIdOf}. */
export const ISSUER_PATH = /^\/(callback|client-metadata)\/([0-9a-f]{32})$/;

/**
 * The function's addresses for one issuer, below the project's public one. Each has its own, so
 * that a code comes back at the address of the server that was asked, and an honest server sends
 * none to the address of another.
 *
 * @param issuerId See {@linkcode issuerIdOf}.
 */
export function oauthAddresses(publicUrl: string, issuerId: string): OAuthAddresses {
  const base = `${publicUrl}/functions/v1/${OAUTH_FUNCTION}`;
  return {
    redirectUrl: `${base}/callback/${issuerId}`,
    documentUrl: `${base}/client-metadata/${issuerId}`,
  };
}

/** Names an issuer in addresses: the first half of the SHA-256 of its identifier. */
export async function issuerIdOf(issuer: string): Promise<string> {
  return (await hashState(issuer)).slice(0, 32);
}

/** What an authorization server is told of this project (RFC 7591). */
export interface ClientMetadata {
  readonly client_name: string;
  readonly redirect_uris: string[];
  readonly grant_types: string[];
  readonly response_types: string[];
}

/** How this project presents itself, when it registers and in its metadata document. */
export function clientMetadataOf({ redirectUrl }: OAuthAddresses): ClientMetadata {
  return {
    client_name: "SupaSwarm",
    redirect_uris: [redirectUrl],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
  };
}
