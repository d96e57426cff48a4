import { type Identity, keyIdentity } from "./identity.ts";
import type { ProtocolVersion } from "./frames.ts";

/** The client's settings from its websocket request. */
export interface Handshake {
  readonly version: ProtocolVersion;
  /** The client's identity by its key, without a token. */
  readonly keyIdentity: Identity;
  /** Headers that policies may read as `request.headers`. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The keys that the endpoint accepts. */
export interface Keys {
  readonly publishableKey: string;
  readonly secretKey: string;
}

/** Reads a websocket request, or returns an error response. */
export function readHandshake(request: Request, keys: Keys): Handshake | Response {
  if (request.headers.get("upgrade")?.toLowerCase() !== "websocket") {
    return Response.json({ error: "Expected a websocket upgrade" }, { status: 426 });
  }
  const identity = identityByKey(request, keys);
  if (identity === null) return unknownKey();
  const version = new URL(request.url).searchParams.get("vsn") === "2.0.0" ? "2.0.0" : "1.0.0";
  return { version, keyIdentity: identity, headers: readableHeaders(request.headers) };
}

/** Returns the identity of the request's key; `null` for an unknown key or no key. */
export function identityByKey(request: Request, keys: Keys): Identity | null {
  const key = new URL(request.url).searchParams.get("apikey") ??
    request.headers.get("apikey") ?? request.headers.get("x-api-key");
  if (key === keys.publishableKey) return keyIdentity("anon");
  if (key === keys.secretKey) return keyIdentity("service_role");
  return null;
}

/** Returns the response to a request without a valid key. */
export function unknownKey(): Response {
  return Response.json(
    { error: "Unauthorized: apikey is neither the publishable nor the secret key" },
    { status: 401 },
  );
}

/** Returns the `x-` headers. Policies must not see transport headers and credentials. */
export function readableHeaders(headers: Headers): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => name.startsWith("x-")));
}
