import { authError, jsonAnswer } from "./answers.ts";
import { handleAdminUsers } from "./admin_routes.ts";
import { type Caller, type CallerRefusal, identifyCaller } from "./caller.ts";
import { refuseKey, type ServiceRouteDeps } from "./rest_routes.ts";
import { toServiceRequest } from "./service_request.ts";
import {
  exchangeRedirectToken,
  exchangeSessionToken,
  type SessionTokenDeps,
  type SignInMethod,
  UserBannedError,
} from "./session_tokens.ts";

/** Dependencies of the Auth routes. */
export interface AuthRouteDeps extends ServiceRouteDeps, SessionTokenDeps {}

const PREFIX = "/auth/v1";

/** Paths that a browser opens without an API key. */
const OPEN_PATHS = new Set(["/verify", "/callback", "/authorize"]);

/** Handles `/auth/v1/*` like Supabase Auth. */
export async function handleAuth(request: Request, deps: AuthRouteDeps): Promise<Response> {
  const path = new URL(request.url).pathname.slice(PREFIX.length);
  if (path === "/.well-known/jwks.json") {
    return jsonAnswer(200, { ...deps.keys.jwks }, { "cache-control": "public, max-age=600" });
  }
  const caller = await identifyCaller(
    request,
    deps.keys,
    OPEN_PATHS.has(path) ? "key_optional" : "key_required",
  );
  if (caller.kind === "refused") return refuseAuth(caller.reason);
  if (path.startsWith("/admin/")) return await handleAdminUsers(request, caller, deps.users);
  return await forward(request, caller, path, deps);
}

async function forward(
  request: Request,
  caller: Caller,
  path: string,
  deps: AuthRouteDeps,
): Promise<Response> {
  const answer = await deps.lite.fetch(await toServiceRequest(request, caller, deps.tokens));
  const method = signInMethod(path, new URL(request.url).searchParams.get("grant_type"));
  try {
    return await withProjectToken(answer, method, deps);
  } catch (error) {
    if (error instanceof UserBannedError) return authError(400, "user_banned", "User is banned");
    throw error;
  }
}

async function withProjectToken(
  answer: Response,
  method: SignInMethod,
  deps: SessionTokenDeps,
): Promise<Response> {
  const headers = new Headers(answer.headers);
  const location = headers.get("location");
  if (location !== null) {
    headers.set("location", await exchangeRedirectToken(location, method, deps));
    return new Response(answer.body, { status: answer.status, headers });
  }
  if (!answer.ok || !headers.get("content-type")?.startsWith("application/json")) return answer;
  const body = await exchangeSessionToken(await answer.json(), method, deps);
  headers.delete("content-length");
  return new Response(JSON.stringify(body), { status: answer.status, headers });
}

function signInMethod(path: string, grantType: string | null): SignInMethod {
  if (path === "/verify") return "otp";
  return grantType === "pkce" || path === "/callback" ? "oauth" : "password";
}

function refuseAuth(reason: CallerRefusal): Response {
  return reason === "token_invalid"
    ? authError(403, "bad_jwt", "invalid JWT: expired or not signed by this project")
    : refuseKey(reason);
}
