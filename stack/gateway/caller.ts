import type { StackKeys, UserClaims } from "../keys/keys.ts";

/** The caller of a request. */
export type Caller =
  | { readonly kind: "anon" }
  | { readonly kind: "user"; readonly claims: UserClaims }
  | { readonly kind: "service" };

/** Why a request has no caller. */
export type CallerRefusal = "key_missing" | "key_invalid" | "key_in_browser" | "token_invalid";

/** A caller, or the reason of the refusal. */
export type Identification = Caller | { readonly kind: "refused"; readonly reason: CallerRefusal };

/** Whether a request without an API key is refused or runs as `anon`. */
export type KeyRule = "key_required" | "key_optional";

const BROWSER_AGENT = /^\s*Mozilla\s*\/\s*5\s*\.\s*0/i;

/**
 * Identifies the caller. The API key (header or query parameter `apikey`) grants access. A user's
 * token in `Authorization` then replaces the key's role, as on a hosted project.
 */
export async function identifyCaller(
  request: Request,
  keys: StackKeys,
  rule: KeyRule,
): Promise<Identification> {
  const bearer = bearerToken(request);
  const apiKey = request.headers.get("apikey") ?? new URL(request.url).searchParams.get("apikey") ??
    (rule === "key_optional" && isApiKey(bearer) ? bearer : null);
  const keyCaller = apiKey === null ? null : callerOfKey(apiKey, keys);
  if (apiKey !== null && keyCaller === null) return { kind: "refused", reason: "key_invalid" };
  if (keyCaller === null && rule === "key_required") {
    return { kind: "refused", reason: "key_missing" };
  }
  if (
    keyCaller?.kind === "service" && BROWSER_AGENT.test(request.headers.get("user-agent") ?? "")
  ) {
    return { kind: "refused", reason: "key_in_browser" };
  }
  if (bearer === null || bearer === apiKey || isApiKey(bearer)) {
    return keyCaller ?? { kind: "anon" };
  }
  const claims = await keys.verifyUserToken(bearer);
  return claims === null ? { kind: "refused", reason: "token_invalid" } : { kind: "user", claims };
}

/** Returns the database role and the JWT claims for the caller's statements. */
export function databaseIdentity(
  caller: Caller,
): { role: string; claims: UserClaims | { role: string } } {
  switch (caller.kind) {
    case "anon":
      return { role: "anon", claims: { role: "anon" } };
    case "service":
      return { role: "service_role", claims: { role: "service_role" } };
    case "user":
      return { role: caller.claims.role, claims: caller.claims };
  }
}

function callerOfKey(apiKey: string, keys: StackKeys): Caller | null {
  if (apiKey === keys.publishableKey) return { kind: "anon" };
  if (apiKey === keys.secretKey) return { kind: "service" };
  return null;
}

function bearerToken(request: Request): string | null {
  return /^Bearer\s+(\S+)$/i.exec(request.headers.get("authorization") ?? "")?.[1] ?? null;
}

function isApiKey(token: string | null): boolean {
  return token?.startsWith("sb_") ?? false;
}
