import { definedOnly } from "../../shared/platform/values/defined_only.ts";
import {
  loadMcpClient,
  type OAuthClientInformationMixed,
  type OAuthClientProvider,
  type OAuthTokens,
} from "../deps.ts";

/** The client metadata for the suite's authorization server. */
export interface OAuthIdentity {
  readonly serverUrl: string;
  /** Set only if the suite registered this client beforehand. */
  readonly clientId: string | undefined;
  readonly clientSecret: string | undefined;
}

const REDIRECT_URL = "http://localhost:3000/callback";
const CLIENT_METADATA_URL = "https://conformance-test.local/client-metadata.json";
const MAX_AUTHORIZATIONS = 3;

/**
 * A fetch with the official SDK's OAuth flow. In the product a user's browser is part
 * of that flow (see `mcp-oauth`); the suite's authorization server consents automatically.
 */
export function withOAuth(send: typeof fetch, identity: OAuthIdentity): typeof fetch {
  const { provider, answer } = createProvider(identity);
  const { serverUrl } = identity;

  return async (input, init) => {
    const { auth, extractWWWAuthenticateParams } = await loadMcpClient();
    for (let authorizations = 0;; authorizations++) {
      const headers = new Headers(init?.headers);
      const tokens = await provider.tokens();
      if (tokens !== undefined) headers.set("authorization", `Bearer ${tokens.access_token}`);
      const response = await send(input, { ...init, headers });
      const isRefused = response.status === 401 || response.status === 403;
      if (!isRefused || authorizations === MAX_AUTHORIZATIONS) return response;
      const challenge = extractWWWAuthenticateParams(response);
      await response.body?.cancel();
      const options = {
        serverUrl,
        ...challenge,
        ...(response.status === 403 ? { forceReauthorization: true } : {}),
        fetchFn: (url: string | URL, options?: RequestInit) => send(url, options),
      };
      if (await auth(provider, options) === "REDIRECT") {
        await auth(provider, { ...options, ...answer() });
      }
    }
  };
}

function createProvider({ clientId, clientSecret }: OAuthIdentity) {
  let client: OAuthClientInformationMixed | undefined = clientId === undefined ? undefined : {
    client_id: clientId,
    ...definedOnly({ client_secret: clientSecret }),
  };
  let tokens: OAuthTokens | undefined;
  let verifier = "";
  let answered = new URLSearchParams();
  const provider: OAuthClientProvider = {
    redirectUrl: REDIRECT_URL,
    clientMetadata: { client_name: "supaswarm", redirect_uris: [REDIRECT_URL] },
    clientMetadataUrl: CLIENT_METADATA_URL,
    clientInformation: () => client,
    saveClientInformation: (saved) => {
      client = saved;
    },
    tokens: () => tokens,
    saveTokens: (saved) => {
      tokens = saved;
    },
    codeVerifier: () => verifier,
    saveCodeVerifier: (saved) => {
      verifier = saved;
    },
    redirectToAuthorization: async (url) => {
      const response = await fetch(url, { redirect: "manual" });
      await response.body?.cancel();
      answered = new URL(response.headers.get("location") ?? "").searchParams;
    },
    invalidateCredentials: (scope) => {
      if (scope === "all" || scope === "tokens") tokens = undefined;
      if (scope === "all" || scope === "client") client = undefined;
    },
  };
  const answer = () => ({
    authorizationCode: answered.get("code") ?? "",
    ...(answered.has("iss") ? { iss: answered.get("iss") ?? "" } : {}),
  });
  return { provider, answer };
}
