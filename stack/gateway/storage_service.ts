import type { Sql } from "../../shared/platform/db/sql_client.ts";
import { jsonAnswer } from "./answers.ts";
import type { Caller } from "./caller.ts";
import type { ServiceRouteDeps } from "./rest_routes.ts";
import { type RequestChanges, toServiceRequest } from "./service_request.ts";

/** Dependencies of the Storage routes. */
export interface StorageRouteDeps extends ServiceRouteDeps {
  /** Connection as the platform's superuser. */
  readonly sql: Sql;
}

/** A request to Storage and its caller. */
export interface StorageCall {
  readonly request: Request;
  readonly caller: Caller;
  /** Path below `/storage/v1`, percent-encoded. */
  readonly path: string;
}

/** The path prefix of Storage. */
export const STORAGE_PREFIX = "/storage/v1";

/** Calls the service with `changes` to the request. */
export async function callStorage(
  { request, caller }: StorageCall,
  deps: StorageRouteDeps,
  changes: RequestChanges = {},
): Promise<Response> {
  return await deps.lite.fetch(await toServiceRequest(request, caller, deps.tokens, changes));
}

/** Replaces the JSON body of a response. Returns other responses unchanged. */
export async function rewriteJson(
  answer: Response,
  change: (body: unknown) => unknown,
): Promise<Response> {
  const headers = new Headers(answer.headers);
  if (!headers.get("content-type")?.startsWith("application/json")) return answer;
  headers.delete("content-length");
  const body = change(await answer.json());
  return new Response(JSON.stringify(body), { status: answer.status, headers });
}

/** Returns the response to a token that is expired or not of this project. */
export function invalidToken(): Response {
  return jsonAnswer(400, {
    statusCode: "403",
    error: "Unauthorized",
    message: "The token is expired or was not signed by this project",
    code: "InvalidJWT",
  });
}
