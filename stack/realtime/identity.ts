import { z } from "../../shared/vendor/zod.js";
import type { JsonObject, JsonValue } from "../../shared/json.ts";

/** Who a client is to the database: a role and the claims that its policies read. */
export interface Identity {
  readonly role: string;
  readonly claims: JsonObject;
  /** When the token ends, in milliseconds since 1970; `null` for one that does not. */
  readonly expiresAtMs: number | null;
}

/** Answers a token's claims, or `null` when its signature, issuer or time does not hold. */
export type VerifyToken = (token: string) => Promise<Readonly<Record<string, unknown>> | null>;

/** Who a token belongs to, or why it is refused, in the real server's words. */
export type Identification =
  | { readonly kind: "identified"; readonly identity: Identity }
  | { readonly kind: "refused"; readonly code: string; readonly message: string };

const claimsSchema = z.record(z.string(), z.custom<JsonValue>()).and(
  z.object({ role: z.string().min(1), exp: z.number() }),
);
const expirySchema = z.object({ exp: z.number() });

/** The identity of a client that brought nothing but the publishable or the secret key. */
export function keyIdentity(role: "anon" | "service_role"): Identity {
  return { role, claims: { role }, expiresAtMs: null };
}

/** Finds out whose token it is. Any failure of `verifyToken` passes through. */
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

/** Tells a token that is too old from a forged one and from text that is no token at all. */
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
