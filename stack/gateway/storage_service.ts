import type { Sql } from "../../shared/db/sql_client.ts";
import { jsonAnswer } from "./answers.ts";
import type { Caller } from "./caller.ts";
import type { ServiceRouteDeps } from "./rest_routes.ts";
import { type RequestChanges, toServiceRequest } from "./service_request.ts";

/** What the Storage routes work with. */
export interface StorageRouteDeps extends ServiceRouteDeps {
  /** As the platform's superuser. */
  readonly sql: Sql;
}

/** A request to Storage and who makes it. */
export interface StorageCall {
  readonly request: Request;
  readonly caller: Caller;
  /** Below `/storage/v1`, percent-encoded as it came. */
  readonly path: string;
}

/** The path under which Storage is served. */
export const STORAGE_PREFIX = "/storage/v1";

/** Has the service answer, with `changes` to the request. */
export async function callStorage(
  { request, caller }: StorageCall,
  deps: StorageRouteDeps,
  changes: RequestChanges = {},
): Promise<Response> {
  return await deps.lite.fetch(await toServiceRequest(request, caller, deps.tokens, changes));
}

/** The answer with another JSON body; answers that are no JSON pass. */
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

/** The answer to a token that is not one of this project, or no longer. */
export function invalidToken(): Response {
  return jsonAnswer(400, {
    statusCode: "403",
    error: "Unauthorized",
    message: "The token is expired or was not signed by this project",
    code: "InvalidJWT",
  });
}
