import type { Sql } from "../../shared/platform/db/sql_client.ts";
import type { OpenLogger as Logger } from "../../shared/platform/log/logger.ts";
import { databaseUnavailable, gatewayError, jsonAnswer } from "./answers.ts";
import { type AuthRouteDeps, handleAuth } from "./auth_routes.ts";
import { limitBody, MAX_BODY_BYTES, refuseLargeBody, tooLarge } from "./body_limit.ts";
import { isConnectionLoss } from "../database/connection_loss.ts";
import { preflightAnswer, withCors } from "./cors.ts";
import type { FunctionPort, RealtimePort } from "./gateway_ports.ts";
import type { RestartGuard } from "./restart_guard.ts";
import { handleRest } from "./rest_routes.ts";
import { handleStorage } from "./storage_routes.ts";

/** Dependencies of all routes. */
export interface RouterDeps extends AuthRouteDeps {
  readonly functions: FunctionPort;
  readonly realtime: RealtimePort;
  /** Connection as the platform's superuser. */
  readonly sql: Sql;
  readonly restarts: RestartGuard;
  readonly log: Logger;
}

type Service = "rest" | "auth" | "storage";

const HANDLERS = { rest: handleRest, auth: handleAuth, storage: handleStorage } as const;

/** Creates the gateway's request handler. It responds to every request and never throws. */
export function createRouter(deps: RouterDeps): (request: Request) => Promise<Response> {
  return async (request) => {
    const { pathname } = new URL(request.url);
    const [, section = "", version = "", name = ""] = pathname.split("/");
    try {
      if (version === "v1") {
        if (section === "rest" || section === "auth" || section === "storage") {
          return await serve(section, request, deps);
        }
        if (section === "functions" && name !== "") {
          const call = (limited: Request) => deps.functions.fetch(name, limited);
          return await withinLimit(request, MAX_BODY_BYTES.functions, call);
        }
        if (section === "realtime") return await deps.realtime.fetch(request);
      }
      return pathname === "/" ? jsonAnswer(200, { status: "ok" }) : unknownPath(pathname);
    } catch (error) {
      deps.log("error", "request_failed", {
        method: request.method,
        path: pathname,
        reason: String(error),
      });
      return gatewayError(
        500,
        "INTERNAL",
        "Cannot respond to the request",
        "Read the stack's log.",
      );
    }
  };
}

/** Serves REST, Auth or Storage with CORS, body limits and a check of the database. */
async function serve(service: Service, request: Request, deps: RouterDeps): Promise<Response> {
  if (request.method === "OPTIONS") return preflightAnswer(request);
  return withCors(
    await withinLimit(
      request,
      MAX_BODY_BYTES[service],
      (limited) => answerOrUnavailable(service, limited, deps),
    ),
  );
}

async function withinLimit(
  request: Request,
  maxBytes: number,
  answer: (limited: Request) => Promise<Response>,
): Promise<Response> {
  const refusal = refuseLargeBody(request, maxBytes);
  if (refusal !== null) return refusal;
  const limited = limitBody(request, maxBytes);
  try {
    const response = await answer(limited.request);
    return limited.isExceeded() ? tooLarge(maxBytes) : response;
  } catch (error) {
    if (limited.isExceeded()) return tooLarge(maxBytes);
    throw error;
  }
}

async function answerOrUnavailable(
  service: Service,
  request: Request,
  deps: RouterDeps,
): Promise<Response> {
  try {
    const answer = await deps.restarts.answerOf(HANDLERS[service](request, deps));
    return answer ?? databaseUnavailable();
  } catch (error) {
    if (isConnectionLoss(error)) return databaseUnavailable();
    throw error;
  }
}

function unknownPath(pathname: string): Response {
  return gatewayError(
    404,
    "ROUTE_NOT_FOUND",
    `Path ${pathname} not found`,
    "Use a path under /rest/v1, /auth/v1, /storage/v1, /functions/v1 or /realtime/v1.",
  );
}
