import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { loadOidcProvider } from "../../deps.ts";

/** A certified authorization server (OpenID Connect, OAuth 2.1) on loopback. */
export interface TestAuthorizationServer extends AsyncDisposable {
  readonly issuer: string;
  /** Lifetime of new access tokens, in seconds. */
  accessTokenSeconds: number;
  /** Bodies of all requests to the token endpoint. */
  readonly tokenRequests: URLSearchParams[];
  /** Bodies of all requests to the revocation endpoint. */
  readonly revocations: URLSearchParams[];
  /** The account of a token; null if the token is not valid for the resource. */
  accountOf(token: string, resource: string): Promise<string | null>;
  /** Expires an access token early. */
  revokeAccessToken(token: string): Promise<void>;
  /** Revokes everything that an account has granted. */
  revokeGrants(account: string): Promise<void>;
}

/** Starts the server; it accepts any login, registers clients and rotates refresh tokens. */
export async function startAuthorizationServer(): Promise<TestAuthorizationServer> {
  const { Provider } = await loadOidcProvider();
  let listener: RequestListener = () => {};
  const http = createServer((request, response) => listener(request, response));
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const grants = new Map<string, Set<string>>();
  const settings = { accessTokenSeconds: 3_600 };

  const provider = new Provider(issuer, {
    clients: [],
    scopes: ["openid", "offline_access"],
    cookies: { keys: [crypto.randomUUID()] },
    rotateRefreshToken: true,
    issueRefreshToken: () => true,
    findAccount: (_context: unknown, id: string) => ({
      accountId: id,
      claims: () => ({ sub: id }),
    }),
    ttl: { RefreshToken: 86_400, Grant: 86_400, Session: 3_600, Interaction: 600 },
    features: {
      devInteractions: { enabled: true },
      registration: { enabled: true },
      revocation: { enabled: true, allowedPolicy: () => true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_context: unknown, resource: string) => ({
          scope: "notes:read",
          audience: resource,
          accessTokenFormat: "opaque",
          accessTokenTTL: settings.accessTokenSeconds,
        }),
        useGrantedResource: () => true,
      },
    },
  });
  const tokenRequests: URLSearchParams[] = [];
  const revocations: URLSearchParams[] = [];
  provider.use(async (context: Context, next: () => Promise<void>) => {
    await next();
    const body = new URLSearchParams(context.oidc?.body);
    if (context.path === "/token") tokenRequests.push(body);
    if (context.path === "/token/revocation") revocations.push(body);
  });
  provider.on("grant.success", ({ oidc }: Context) => {
    const { accountId, grantId } = oidc?.entities.AccessToken ?? {};
    if (accountId === undefined || grantId === undefined) return;
    grants.set(accountId, (grants.get(accountId) ?? new Set()).add(grantId));
  });
  listener = provider.callback();

  return {
    issuer,
    tokenRequests,
    revocations,
    get accessTokenSeconds() {
      return settings.accessTokenSeconds;
    },
    set accessTokenSeconds(seconds) {
      settings.accessTokenSeconds = seconds;
    },
    accountOf: async (value, resource) => {
      const token = await provider.AccessToken.find(value);
      const isValid = token !== undefined && !token.isExpired && token.aud === resource;
      return isValid ? token.accountId : null;
    },
    revokeAccessToken: async (value) => await (await provider.AccessToken.find(value))?.destroy(),
    revokeGrants: async (account) => {
      for (const id of grants.get(account) ?? []) {
        await provider.RefreshToken.revokeByGrantId(id);
        await provider.AccessToken.revokeByGrantId(id);
        await (await provider.Grant.find(id))?.destroy();
      }
      grants.delete(account);
    },
    async [Symbol.asyncDispose]() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

/** The used part of the provider's context. */
interface Context {
  readonly path: string;
  readonly oidc?: {
    readonly body?: Record<string, string>;
    readonly entities: {
      readonly AccessToken?: { readonly accountId: string; readonly grantId: string };
    };
  };
}
