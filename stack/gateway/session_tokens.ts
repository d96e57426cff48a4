import { z } from "../../shared/vendor/zod.js";
import type { StackKeys, UserClaims } from "../keys/keys.ts";
import type { InternalTokens } from "./internal_tokens.ts";
import type { AuthUser, UserDirectory } from "./user_directory.ts";

/** How a session began, for the token's `amr` claim. */
export type SignInMethod = "password" | "otp" | "oauth";

/** What is needed to exchange the service's tokens for the project's. */
export interface SessionTokenDeps {
  readonly keys: StackKeys;
  readonly tokens: InternalTokens;
  readonly users: UserDirectory;
  /** The `iss` of every token: `<api>/auth/v1`. */
  readonly issuer: string;
}

/** A user who may not sign in now. */
export class UserBannedError extends Error {
  override readonly name = "UserBannedError";
}

const sessionSchema = z.looseObject({ access_token: z.string() });

/**
 * Exchanges the service's HS256 access token in an Auth answer for one signed with the project's
 * key and with all the claims of a hosted project's token. Answers without a session pass.
 *
 * @throws UserBannedError for a banned user, whom the service lets in.
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
 * Exchanges the token in the fragment of a redirect, as links in mails end.
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
  if (claims === null || user === null) throw new Error("Cannot sign a session of no known user");
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
