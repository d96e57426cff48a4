import { createHash, timingSafeEqual } from "node:crypto";
import { z } from "../../vendor/zod.js";
import type { ApiKeys } from "../config/env.ts";
import { SwarmError } from "../errors/swarm_error.ts";
import type { JsonObject } from "../values/json.ts";
import { FORM_LIMITS } from "../json/json_limits.ts";
import { parseJsonOrUndefined } from "../json/parse_json.ts";
import { lazily } from "../values/lazily.ts";
import {
  agentBehind,
  type AgentDirectory,
  agentNotAllowed,
  isSentByAgent,
  toolTokenOf,
} from "./agent_credential.ts";
import type { Caller, CallerKind, UserCaller } from "./caller.ts";
import { isForThisEndpoint } from "./token_audience.ts";
import { VerifiedTokens } from "./verified_tokens.ts";

/** Imported on first use: callers with only a secret key never need it. */
const loadServer = lazily(() => import("../../vendor/supabase_server.js"));

type VerifyAuth = Awaited<ReturnType<typeof loadServer>>["verifyAuth"];

export type { AgentCaller, Caller, CallerKind } from "./caller.ts";

/** Tokens verified with one project's keys. */
const verifiedTokens = new WeakMap<ApiKeys, VerifiedTokens<UserCaller>>();

/**
 * Authenticates a request: a user by the JWT in `Authorization`, the service by a secret key in
 * `apikey`, an agent by the token of a tool call or by the header of its tools' requests,
 * regardless of other credentials. A publishable key alone does not identify a caller.
 *
 * @param agents Required if `accepted` includes `agent`.
 * @throws UNAUTHORIZED without an accepted credential, with a wrong one, or with the token of a
 * user that this project does not have.
 * @throws FORBIDDEN if the token is genuine but not a signed-in user's.
 * @throws AGENT_NOT_ALLOWED if an agent sent it and `accepted` does not include `agent`.
 * @throws CONFIG_INVALID if the project's keys cannot authenticate any caller.
 */
export async function authenticate(
  request: Request,
  keys: ApiKeys,
  accepted: readonly CallerKind[],
  agents?: AgentDirectory,
): Promise<Caller> {
  if (!isSentByAgent(request)) return await authenticateHolder(request, keys, accepted);
  if (agents === undefined || !accepted.includes("agent")) {
    throw agentNotAllowed("call this endpoint", "Only a person or the service may call it.");
  }
  const token = toolTokenOf(request);
  if (token !== null) return await agents.agentOfToken(token);
  return await agentBehind(request, await authenticateHolder(request, keys, accepted), agents);
}

/** The holder of a request's credential. */
async function authenticateHolder(
  request: Request,
  keys: ApiKeys,
  accepted: readonly CallerKind[],
): Promise<UserCaller | { readonly kind: "service" }> {
  if (accepted.includes("service") && bringsSecretKeyAlone(request, keys)) {
    return { kind: "service" };
  }
  const tokens = tokensOf(keys);
  const authorization = request.headers.get("authorization") ?? "";
  const known = accepted[0] === "user" ? tokens.find(authorization, Date.now()) : null;
  if (known !== null) return forThisEndpoint(known, request, keys);
  const { caller, expiresAtSeconds } = await verify(request, keys, accepted);
  if (caller.kind === "user") tokens.add(authorization, caller, expiresAtSeconds, Date.now());
  return caller.kind === "user" ? forThisEndpoint(caller, request, keys) : caller;
}

/** @throws UNAUTHORIZED for a token that was issued for another resource. */
function forThisEndpoint(caller: UserCaller, request: Request, keys: ApiKeys): UserCaller {
  const { aud: audience = null } = caller.claims;
  const use = { audience, requestUrl: request.url, projectUrl: keys.url };
  if (isForThisEndpoint(use)) return caller;
  throw new SwarmError(
    "UNAUTHORIZED",
    "Cannot authenticate the request: the token was issued for another resource",
    { hint: "Request a token whose resource is the URL of this endpoint." },
  );
}

interface VerifiedHolder {
  readonly caller: UserCaller | { readonly kind: "service" };
  readonly expiresAtSeconds?: unknown;
}

function tokensOf(keys: ApiKeys): VerifiedTokens<UserCaller> {
  const tokens = verifiedTokens.get(keys) ?? new VerifiedTokens();
  verifiedTokens.set(keys, tokens);
  return tokens;
}

async function verify(
  request: Request,
  keys: ApiKeys,
  accepted: readonly CallerKind[],
): Promise<VerifiedHolder> {
  const modes = accepted.filter((kind) => kind !== "agent")
    .map((kind) => kind === "user" ? "user" as const : "secret:*" as const);
  const { verifyAuth } = await loadServer();
  const { data, error } = await verifyAuth(request, { auth: modes, env: environmentOf(keys) });
  if (error !== null) {
    if (isSignedWithSecret(request)) throw legacyToken(error);
    throw refusal(error, bringsPublishableKeyAlone(request, keys) ? NO_USER : REASONS[error.code]);
  }
  if (data.userClaims === null) return { caller: { kind: "service" } };
  if (data.userClaims.role !== "authenticated") {
    throw new SwarmError("FORBIDDEN", "Cannot act: the token does not belong to a signed-in user", {
      hint: "Sign in and send the session's access token.",
    });
  }
  const userId = z.guid().safeParse(data.userClaims.id);
  if (!userId.success) throw foreignUser();
  const { jwtClaims } = data;
  const claims = { ...jwtClaims } as JsonObject;
  return {
    caller: { kind: "user", userId: userId.data, clientId: clientIdOf(jwtClaims), claims },
    expiresAtSeconds: jwtClaims?.exp,
  };
}

/**
 * The most common credential of a program, and the cheapest to check: no token must be verified.
 */
function bringsSecretKeyAlone({ headers }: Request, { secretKeys }: ApiKeys): boolean {
  const apiKey = headers.get("apikey") ?? "";
  if (apiKey === "" || headers.has("authorization")) return false;
  // Digests have one length, so that comparing them reveals nothing about the keys.
  const given = digestOf(apiKey);
  return Object.values(secretKeys).some((key) => timingSafeEqual(given, digestOf(key)));
}

/** supabase-js sends its publishable key also as a token when nobody is signed in. */
function bringsPublishableKeyAlone({ headers }: Request, { publishableKeys }: ApiKeys): boolean {
  const apiKey = headers.get("apikey") ?? "";
  const token = headers.get("authorization") ?? `Bearer ${apiKey}`;
  return token === `Bearer ${apiKey}` && Object.values(publishableKeys).includes(apiKey);
}

function digestOf(text: string) {
  return createHash("sha256").update(text).digest();
}

/** Supabase Auth names the client in the tokens that it gives out as an OAuth server. */
function clientIdOf(claims: object | null): string | null {
  const clientId: unknown = claims === null ? undefined : Reflect.get(claims, "client_id");
  return typeof clientId === "string" && clientId !== "" ? clientId : null;
}

type Environment = NonNullable<Parameters<VerifyAuth>[1]["env"]>;

function environmentOf(keys: ApiKeys): Environment {
  return {
    url: keys.url,
    publishableKeys: { ...keys.publishableKeys },
    secretKeys: { ...keys.secretKeys },
    jwks: keys.jwks,
  };
}

/** Owners are rows of `auth.users`; a token of another issuer may have any user id. */
function foreignUser(): SwarmError {
  return new SwarmError(
    "UNAUTHORIZED",
    "Cannot authenticate the request: the token's user id is not a UUID",
    { hint: "Sign in with this project's Auth and send the session's access token." },
  );
}

/**
 * Whether the token is signed with a shared secret, as in projects without signing keys. Functions
 * do not get that secret.
 */
function isSignedWithSecret({ headers }: Request): boolean {
  const [, header] = /^Bearer ([\w-]+)\./i.exec(headers.get("authorization") ?? "") ?? [];
  if (header === undefined) return false;
  try {
    const text = atob(header.replaceAll("-", "+").replaceAll("_", "/"));
    return tokenHeader.safeParse(parseJsonOrUndefined(text, FORM_LIMITS)).success;
  } catch {
    return false;
  }
}

const tokenHeader = z.object({ alg: z.literal("HS256") });

function legacyToken(error: AuthFailure): SwarmError {
  return new SwarmError(
    "PROJECT_KEYS_UNSUPPORTED",
    "Cannot authenticate the request: its token is signed with the project's legacy JWT secret " +
      "(HS256), which functions cannot verify",
    {
      cause: error,
      hint:
        "Switch the project to JWT signing keys in the dashboard (Settings, JWT Keys), rotate " +
        "to an asymmetric key, and sign in again.",
      details: { reason: error.code },
    },
  );
}

type AuthFailure = NonNullable<Awaited<ReturnType<VerifyAuth>>["error"]>;

const NO_USER = "no user is signed in";

/** Replacements for library messages about its own settings. */
const REASONS: Readonly<Record<string, string>> = {
  MISSING_CREDENTIALS: "it has no credential",
  INVALID_API_KEY: "the API key is invalid",
};

function refusal(error: AuthFailure, knownReason: string | undefined): SwarmError {
  const code = error.status === 401 ? "UNAUTHORIZED" : "CONFIG_INVALID";
  const reason = knownReason ?? error.message.replace(/^\[@supabase\/server\]\s*/, "");
  return new SwarmError(code, `Cannot authenticate the request: ${reason}`, {
    cause: error,
    hint: "Send a user's access token as `Authorization: Bearer …` with the publishable key in " +
      "`apikey`, or a secret key in `apikey`.",
    details: { reason: error.code },
  });
}
