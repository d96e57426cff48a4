/** Name of the edge function through which users connect. */
export const OAUTH_FUNCTION = "mcp-oauth";

/** Addresses of the function, as browsers and authorization servers reach it. */
export interface OAuthAddresses {
  readonly redirectUrl: string;
  /** Serves {@linkcode clientMetadataOf}; it is the client's id where that is supported. */
  readonly documentUrl: string;
}

/** The function's addresses below the project's public one. */
export function oauthAddresses(publicUrl: string): OAuthAddresses {
  const base = `${publicUrl}/functions/v1/${OAUTH_FUNCTION}`;
  return { redirectUrl: `${base}/callback`, documentUrl: `${base}/client-metadata` };
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
