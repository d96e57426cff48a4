import { FUNCTION_NAMES } from "../../../../platform/values/function_names.ts";
import { sha256Hex } from "../../../../platform/values/sha256_hex.ts";

/** Name of the edge function through which users connect. */
export const OAUTH_FUNCTION = FUNCTION_NAMES.oauth;

/** Addresses of the function for one issuer, as browsers and authorization servers reach it. */
export interface OAuthAddresses {
  readonly redirectUrl: string;
  /** Serves {@linkcode clientMetadataOf}; it is the client's id if the server supports that. */
  readonly documentUrl: string;
}

/** Path of a URL for one issuer: its purpose, and {@linkcode issuerIdOf}. */
export const ISSUER_PATH = /^\/(callback|client-metadata)\/([0-9a-f]{32})$/;

/**
 * The function's URLs for one issuer, below the project's public URL. Each issuer has its own, so
 * that a code returns to the URL of the issuer that was asked (mix-up protection).
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

/** Identifies an issuer in URLs: the first half of the SHA-256 of its identifier. */
export function issuerIdOf(issuer: string): string {
  return sha256Hex(issuer).slice(0, 32);
}

/** The client metadata that an authorization server gets (RFC 7591). */
export interface ClientMetadata {
  readonly client_name: string;
  readonly redirect_uris: string[];
  readonly grant_types: string[];
  readonly response_types: string[];
}

/** The project's client metadata, for registration and in its metadata document. */
export function clientMetadataOf({ redirectUrl }: OAuthAddresses): ClientMetadata {
  return {
    client_name: "SupaSwarm",
    redirect_uris: [redirectUrl],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
  };
}
