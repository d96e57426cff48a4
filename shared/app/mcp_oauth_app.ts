import { z } from "../vendor/zod.js";
import type { Config } from "../platform/config/env.ts";
import { SwarmError } from "../platform/errors/swarm_error.ts";
import { authenticate } from "../platform/http/authenticate.ts";
import { assertClientHasScope, CREDENTIALS_WRITE } from "../platform/db/client_scope.ts";
import { createHttpHandler } from "../platform/http/http_handler.ts";
import { parseBody } from "../platform/http/parse_body.ts";
import { FORM_LIMITS } from "../platform/json/json_limits.ts";
import type { Logger } from "../platform/log/logger.ts";
import { isOriginAllowed } from "../gateway/mcp/allowed_origin.ts";
import { createGuardedFetch } from "../platform/net/guarded_fetch.ts";
import { beginAuthorization } from "../gateway/tools/credentials/oauth/begin_authorization.ts";
import {
  clientMetadataOf,
  ISSUER_PATH,
  OAUTH_FUNCTION,
  oauthAddresses,
} from "../gateway/tools/credentials/oauth/client_metadata.ts";
import { parseConfirmation } from "../gateway/tools/credentials/oauth/confirmation.ts";
import { createConnectionStore } from "../gateway/tools/credentials/oauth/connection_store.ts";
import { endConnection } from "../gateway/tools/credentials/oauth/end_connection.ts";
import { finishAuthorization } from "../gateway/tools/credentials/oauth/finish_authorization.ts";
import { answerBrowser } from "../gateway/tools/credentials/oauth/answer_browser.ts";
import { createReleaseCheck } from "./release_check.ts";
import { openIsolatePool } from "../platform/isolate/isolate_pool.ts";
import { createRequestGate } from "../platform/isolate/request_gate.ts";
import type { App } from "./app.ts";
import { withoutTrailing } from "../platform/values/without_trailing.ts";

const beginRequest = z.strictObject({
  /** Slug of the tool server. */
  server: z.string().min(1).max(63),
  /** Page of an allowed origin that the browser goes to afterwards. */
  return_to: z.url({ protocol: /^https?$/ }).max(2_000).optional(),
});
const confirmRequest = z.strictObject({ confirmation: z.string().min(1).max(10_000) });
const endRequest = beginRequest.pick({ server: true });

/**
 * Composes `mcp-oauth`: POST starts, the browser returns to the issuer's `/callback/<id>`, POST
 * `/confirm` by the same user connects, DELETE disconnects. `/client-metadata/<id>` serves the
 * client metadata for an authorization server.
 */
export function createMcpOAuthApp(config: Config, log: Logger): App {
  const { apiKeys, publicUrl, allowLoopback, allowedOrigins } = config;
  const sql = openIsolatePool(config.databaseUrl, OAUTH_FUNCTION);
  const ready = createReleaseCheck(sql, log);
  const gate = createRequestGate(config.cpu);
  const store = createConnectionStore(sql);
  const ports = { store, guardedFetch: createGuardedFetch({ allowLoopback }) };

  const fetch = createHttpHandler(
    { methods: ["GET", "POST", "DELETE"], log, gate, ready },
    async (request) => {
      const path = new URL(request.url).pathname.split(`/${OAUTH_FUNCTION}`).at(-1) ?? "";
      const ofIssuer = request.method === "GET" ? answerForIssuer(request, path) : null;
      if (ofIssuer !== null) return await ofIssuer;
      switch (`${request.method} ${withoutTrailing(path, "/")}`) {
        case "POST ":
          return await begin(request);
        case "POST /confirm":
          return await confirm(request);
        case "DELETE ":
          return await end(request);
        default:
          throw new SwarmError(
            "METHOD_NOT_ALLOWED",
            `Cannot answer ${request.method} at '${path}'`,
            {
              hint: "POST {server} here, POST {confirmation} to /confirm, or DELETE {server}.",
            },
          );
      }
    },
  );
  return { fetch, close: () => sql.end({ timeout: 1 }) };

  function answerForIssuer(request: Request, path: string): Promise<Response> | null {
    const [, what, issuerId] = ISSUER_PATH.exec(withoutTrailing(path, "/")) ?? [];
    if (issuerId === undefined) return null;
    if (what === "callback") {
      return answerBrowser(issuerId, new URL(request.url).searchParams, store);
    }
    const addresses = oauthAddresses(publicUrl, issuerId);
    return Promise.resolve(Response.json({
      client_id: addresses.documentUrl,
      ...clientMetadataOf(addresses),
      token_endpoint_auth_method: "none",
    }));
  }

  async function begin(request: Request): Promise<Response> {
    const userId = await userOf(request);
    const body = await parseBody(request, beginRequest, FORM_LIMITS);
    const { server: slug, return_to: returnTo = null } = body;
    if (returnTo !== null) assertMayReturnTo(returnTo);
    const order = { slug, userId, returnTo, publicUrl };
    const { authorizationUrl, redirectUrl, expiresAt } = await beginAuthorization(order, ports);
    return Response.json({
      authorization_url: authorizationUrl,
      redirect_url: redirectUrl,
      expires_at: expiresAt,
    });
  }

  async function confirm(request: Request): Promise<Response> {
    const userId = await userOf(request);
    const { confirmation } = await parseBody(request, confirmRequest, FORM_LIMITS);
    const server = await finishAuthorization(parseConfirmation(confirmation), userId, ports);
    log("info", "oauth.connected", { server });
    return Response.json({ server, is_connected: true });
  }

  async function end(request: Request): Promise<Response> {
    const userId = await userOf(request);
    const { server } = await parseBody(request, endRequest, FORM_LIMITS);
    const isRevoked = await endConnection(server, userId, ports);
    log("info", "oauth.disconnected", { server, is_revoked: isRevoked });
    return Response.json({ server, is_connected: false, is_revoked: isRevoked });
  }

  async function userOf(request: Request): Promise<string> {
    const caller = await authenticate(request, apiKeys, ["user"]);
    if (caller.kind === "user") {
      await assertClientHasScope(
        sql,
        caller,
        "connect or disconnect an account",
        CREDENTIALS_WRITE,
      );
      return caller.userId;
    }
    throw new SwarmError(
      "CALLER_REQUIRED",
      "Cannot connect the account: this requires a signed-in user",
    );
  }

  function assertMayReturnTo(returnTo: string): void {
    const { origin } = new URL(returnTo);
    const policy = { projectUrl: publicUrl, allowedOrigins };
    if (isOriginAllowed(origin, policy) && !returnTo.includes("#")) return;
    throw new SwarmError(
      "BODY_INVALID",
      "Cannot redirect the browser to return_to: its origin is not allowed",
      {
        hint: "Use a page without a fragment whose origin is in SUPASWARM_ALLOWED_ORIGINS.",
      },
    );
  }
}
