import { z } from "../../shared/vendor/zod.js";
import type { JsonObject, JsonValue } from "../../shared/platform/values/json.ts";

/** A client's identity in the database: a role, and the claims that policies read. */
export interface Identity {
  readonly role: string;
  readonly claims: JsonObject;
  /** When the token expires, in milliseconds since 1970; `null` if it does not. */
  readonly expiresAtMs: number | null;
}

/** Returns a token's claims, or `null` when its signature, issuer or expiry is invalid. */
export type VerifyToken = (token: string) => Promise<Readonly<Record<string, unknown>> | null>;

/** The identity of a token, or the refusal with the real server's code and message. */
export type Identification =
  | { readonly kind: "identified"; readonly identity: Identity }
  | { readonly kind: "refused"; readonly code: string; readonly message: string };

const claimsSchema = z.record(z.string(), z.custom<JsonValue>()).and(
  z.object({ role: z.string().min(1), exp: z.number() }),
);
const expirySchema = z.object({ exp: z.number() });

/** Returns the identity of a client that has only the publishable or the secret key. */
export function keyIdentity(role: "anon" | "service_role"): Identity {
  return { role, claims: { role }, expiresAtMs: null };
}

/** Identifies the client of a token. Throws the errors of `verifyToken`. */
export async function identify(token: string, verifyToken: VerifyToken): Promise<Identification> {
  const claims = await verifyToken(token);
  if (claims === null) return refuseUnverified(token);
  const parsed = claimsSchema.safeParse(claims);
  if (!parsed.success) {
    return refused("InvalidJWTToken", "Fields `role` and `exp` are required in JWT");
  }
  const { role, exp } = parsed.data;
  const expiresAtMs = exp * 1000;
  if (expiresAtMs <= Date.now()) return refuseExpired(exp);
  return { kind: "identified", identity: { role, claims: parsed.data, expiresAtMs } };
}

/** Distinguishes an expired token, a forged one, and text that is not a token. */
function refuseUnverified(token: string): Identification {
  const payload = readUnverified(token);
  if (payload === null) return refused("MalformedJWT", "The token provided is not a valid JWT");
  const { data } = expirySchema.safeParse(payload);
  if (data !== undefined && data.exp * 1000 <= Date.now()) return refuseExpired(data.exp);
  return refused("JwtSignatureError", "Failed to validate JWT signature");
}

function refuseExpired(exp: number): Identification {
  const secondsAgo = Math.max(0, Math.floor(Date.now() / 1000 - exp));
  return refused("InvalidJWTToken", `Token has expired ${secondsAgo} seconds ago`);
}

function refused(code: string, message: string): Identification {
  return { kind: "refused", code, message };
}

function readUnverified(token: string): unknown {
  const [, body] = token.split(".");
  if (body === undefined) return null;
  try {
    return JSON.parse(atob(body.replaceAll("-", "+").replaceAll("_", "/")));
  } catch {
    return null;
  }
}
