import { type Identity, keyIdentity } from "./identity.ts";
import type { ProtocolVersion } from "./frames.ts";

/** How a client introduced itself when it opened its websocket. */
export interface Handshake {
  readonly version: ProtocolVersion;
  /** Who the client is without a token, by its key. */
  readonly keyIdentity: Identity;
  /** Headers that policies may read as `request.headers`. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The keys that the endpoint accepts. */
export interface Keys {
  readonly publishableKey: string;
  readonly secretKey: string;
}

/** Reads the request that asks for a websocket, or answers why there will be none. */
export function readHandshake(request: Request, keys: Keys): Handshake | Response {
  if (request.headers.get("upgrade")?.toLowerCase() !== "websocket") {
    return Response.json({ error: "Expected a websocket upgrade" }, { status: 426 });
  }
  const identity = identityByKey(request, keys);
  if (identity === null) return unknownKey();
  const version = new URL(request.url).searchParams.get("vsn") === "2.0.0" ? "2.0.0" : "1.0.0";
  return { version, keyIdentity: identity, headers: readableHeaders(request.headers) };
}

/** The identity that the request's key stands for; `null` for any other key and for none. */
export function identityByKey(request: Request, keys: Keys): Identity | null {
  const key = new URL(request.url).searchParams.get("apikey") ??
    request.headers.get("apikey") ?? request.headers.get("x-api-key");
  if (key === keys.publishableKey) return keyIdentity("anon");
  if (key === keys.secretKey) return keyIdentity("service_role");
  return null;
}

/** The answer to a request without a valid key. */
export function unknownKey(): Response {
  return Response.json(
    { error: "Unauthorized: apikey is neither the publishable nor the secret key" },
    { status: 401 },
  );
}

/** The client's own headers; those of the transport and the credentials are not for policies. */
export function readableHeaders(headers: Headers): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => name.startsWith("x-")));
}
