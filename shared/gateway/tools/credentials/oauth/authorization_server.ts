import { z } from "../../../../vendor/zod.js";
import type { JsonObject } from "../../../../platform/values/json.ts";
import { SwarmError } from "../../../../platform/errors/swarm_error.ts";
import { isSameIssuer, issuerOf } from "./issuer.ts";
import { createOAuthFetch } from "./oauth_fetch.ts";
import { authorizationServerUnavailable } from "./oauth_failure.ts";
import {
  readResourceMetadata,
  readServerMetadata,
  type ResourceMetadata,
  textsIn,
} from "./read_metadata.ts";

const optionalTexts = z.preprocess(
  (value) => value === undefined || value === null ? undefined : textsIn(value),
  z.array(z.string()).optional(),
);
const optionalText = z.string().optional().catch(undefined);
/** The only one of its values that a server must support to be of use here. */
const RESPONSE_TYPE = "code";

/** A tool server that names more is broken or hostile. */
const MAX_AUTHORIZATION_SERVERS = 3;
/** Timeout of the whole search, whatever number of addresses may have metadata. */
const SEARCH_TIMEOUT_MS = 30_000;

/** The required part of an authorization server's metadata (RFC 8414). */
export type AuthorizationServer = z.infer<typeof authorizationServerSchema>;
/** See {@linkcode AuthorizationServer}. */
export const authorizationServerSchema = z.object({
  issuer: z.string(),
  authorization_endpoint: z.string(),
  token_endpoint: z.string(),
  registration_endpoint: optionalText,
  revocation_endpoint: optionalText,
  response_types_supported: z.array(z.string()).catch([RESPONSE_TYPE]),
  scopes_supported: optionalTexts,
  token_endpoint_auth_methods_supported: optionalTexts,
  revocation_endpoint_auth_methods_supported: optionalTexts,
  code_challenge_methods_supported: optionalTexts,
  client_id_metadata_document_supported: z.boolean().optional().catch(undefined),
  authorization_response_iss_parameter_supported: z.boolean().optional().catch(undefined),
});

/** The authorization server of a tool server, with resource and scopes. */
export interface Authority {
  readonly server: AuthorizationServer;
  /**
   * The resource that tokens are requested for (RFC 8707); null if the tool server does not declare
   * one.
   */
  readonly resource: string | null;
  /** Scopes that the tool server requests. */
  readonly scope: string | null;
}

/**
 * Finds the authorization server of a tool server: its challenge, the metadata of the resource (RFC
 * 9728), the metadata of the authorization server: the first usable one of the three that are named
 * first. A server without PKCE is rejected.
 *
 * @throws SwarmError `OAUTH_UNAVAILABLE`, `TOOL_UNAVAILABLE`, `TOOL_ADDRESS_FORBIDDEN`.
 */
export async function findAuthority(
  slug: string,
  serverUrl: string,
  guardedFetch: typeof fetch,
): Promise<Authority> {
  const sdk = await import("../../../../vendor/mcp_client.js");
  const fetchFn = createOAuthFetch(guardedFetch, AbortSignal.timeout(SEARCH_TIMEOUT_MS));
  const challenge = await askChallenge(serverUrl, fetchFn).catch((error) => {
    throw error instanceof SwarmError ? error : authorizationServerUnavailable(slug);
  });
  const metadata = await readMetadata(slug, serverUrl, challenge.resourceMetadataUrl, fetchFn);
  const { resource, server } = metadata;
  const asked = sdk.resourceUrlFromServerUrl(serverUrl);
  const isResource = (named: string) =>
    URL.canParse(named) &&
    sdk.checkResourceAllowed({ requestedResource: asked, configuredResource: named });
  if (resource.resource !== null && !isResource(resource.resource)) {
    const problem = `describes another resource, '${resource.resource}', not '${asked.href}'`;
    throw oauthUnavailable(slug, `its metadata ${problem}`);
  }
  return { server, resource: resource.resource, scope: challenge.scope ?? resource.scope };
}

async function readMetadata(
  slug: string,
  serverUrl: string,
  resourceMetadataUrl: URL | undefined,
  send: ReturnType<typeof createOAuthFetch>,
) {
  try {
    const resource = await readResourceMetadata(serverUrl, resourceMetadataUrl, send) ??
      NO_METADATA;
    // Without metadata the tool server is its own authorization server.
    const { origin } = new URL(serverUrl);
    const named = [...new Set(resource.authorizationServers.map(issuerOf))];
    const issuers = named.length === 0 ? [origin] : named.slice(0, MAX_AUTHORIZATION_SERVERS);
    return { resource, server: await firstUsable(slug, issuers, send) };
  } catch (error) {
    if (error instanceof SwarmError) throw error;
    throw oauthUnavailable(slug, "its metadata cannot be read");
  }
}

/** Reads one after the other; throws what is wrong with the first if none can be used. */
async function firstUsable(
  slug: string,
  issuers: readonly string[],
  send: ReturnType<typeof createOAuthFetch>,
): Promise<AuthorizationServer> {
  const failures: unknown[] = [];
  for (const issuer of issuers) {
    try {
      const found = await readServerMetadata(issuer, send);
      if (found !== null) return toServer(slug, issuer, found);
      const problem = `'${issuer}' has no metadata of an authorization server`;
      failures.push(oauthUnavailable(slug, problem));
    } catch (error) {
      failures.push(error);
    }
  }
  throw failures[0];
}

const NO_METADATA: ResourceMetadata = { resource: null, authorizationServers: [], scope: null };

/** Checks that the metadata is that of the named server, which supports what is needed. */
function toServer(slug: string, issuer: string, found: JsonObject): AuthorizationServer {
  const parsed = authorizationServerSchema.safeParse(found);
  if (!parsed.success) {
    const names = parsed.error.issues.map(({ path }) => path.join(".")).join(", ");
    throw oauthUnavailable(slug, `the metadata of '${issuer}' lacks ${names}`);
  }
  if (!isSameIssuer(parsed.data.issuer, issuer)) {
    throw oauthUnavailable(
      slug,
      `it names the authorization server '${issuer}', whose metadata is that of '${parsed.data.issuer}'`,
    );
  }
  if (!parsed.data.code_challenge_methods_supported?.includes("S256")) {
    throw oauthUnavailable(slug, "its authorization server does not support PKCE with S256");
  }
  return parsed.data;
}

/** Creates the error for a tool server that does not support connecting by OAuth. */
export function oauthUnavailable(slug: string, reason: string): SwarmError {
  return new SwarmError("OAUTH_UNAVAILABLE", `Cannot connect to '${slug}' by OAuth: ${reason}`, {
    hint: "Store your own key with set_tool_credential(), or ask the server's operator.",
  });
}

/** The server's response to a request without a token. */
async function askChallenge(serverUrl: string, send: ReturnType<typeof createOAuthFetch>) {
  const { extractWWWAuthenticateParams } = await import("../../../../vendor/mcp_client.js");
  const response = await send(serverUrl, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" }),
  });
  await response.body?.cancel();
  return response.status === 401 ? extractWWWAuthenticateParams(response) : {};
}
