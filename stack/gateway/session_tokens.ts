import { z } from "../../shared/vendor/zod.js";
import type { StackKeys, UserClaims } from "../keys/keys.ts";
import type { InternalTokens } from "./internal_tokens.ts";
import type { AuthUser, UserDirectory } from "./user_directory.ts";

/** How the user signed in, for the token's `amr` claim. */
export type SignInMethod = "password" | "otp" | "oauth";

/** Dependencies of the token exchange. */
export interface SessionTokenDeps {
  readonly keys: StackKeys;
  readonly tokens: InternalTokens;
  readonly users: UserDirectory;
  /** The `iss` of every token: `<api>/auth/v1`. */
  readonly issuer: string;
}

/** The user is banned and cannot sign in. */
export class UserBannedError extends Error {
  override readonly name = "UserBannedError";
}

const sessionSchema = z.looseObject({ access_token: z.string() });

/**
 * Replaces the service's HS256 access token in a response of Auth with a token that is signed with
 * the project's key and has all claims of a hosted project's token. Returns other responses
 * unchanged.
 *
 * @throws UserBannedError for a banned user, because the service does not check this.
 */
export async function exchangeSessionToken(
  body: unknown,
  method: SignInMethod,
  deps: SessionTokenDeps,
): Promise<unknown> {
  const session = sessionSchema.safeParse(body);
  if (!session.success) return body;
  const access = await exchangeToken(session.data.access_token, method, deps);
  return { ...session.data, access_token: access };
}

/**
 * Replaces the token in the fragment of a redirect, such as that of a link in a mail.
 *
 * @throws UserBannedError for a banned user.
 */
export async function exchangeRedirectToken(
  location: string,
  method: SignInMethod,
  deps: SessionTokenDeps,
): Promise<string> {
  const [target = "", fragment = ""] = location.split("#", 2);
  const parameters = new URLSearchParams(fragment);
  const token = parameters.get("access_token");
  if (token === null) return location;
  parameters.set("access_token", await exchangeToken(token, method, deps));
  return `${target}#${parameters}`;
}

async function exchangeToken(
  token: string,
  method: SignInMethod,
  deps: SessionTokenDeps,
): Promise<string> {
  const claims = await deps.tokens.read(token);
  const user = claims === null ? null : await deps.users.find(claims.sub);
  if (claims === null || user === null) {
    throw new Error("Cannot sign a session: the user is unknown");
  }
  if (isBanned(user)) throw new UserBannedError(`User ${user.id} is banned`);
  return await deps.keys.signUserToken(hostedClaims(claims, user, method, deps.issuer));
}

function hostedClaims(
  claims: UserClaims,
  user: AuthUser,
  method: SignInMethod,
  issuer: string,
): UserClaims {
  return {
    ...claims,
    iss: issuer,
    email: user.email ?? "",
    phone: user.phone ?? "",
    app_metadata: user.app_metadata ?? {},
    user_metadata: user.user_metadata ?? {},
    aal: "aal1",
    amr: [{ method, timestamp: claims.iat ?? Math.floor(Date.now() / 1000) }],
    is_anonymous: user.is_anonymous ?? false,
  };
}

function isBanned({ banned_until }: AuthUser): boolean {
  return typeof banned_until === "string" && Date.parse(banned_until) > Date.now();
}
