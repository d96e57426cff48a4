import type { StackKeys } from "../keys/keys.ts";
import { jsonAnswer, restError } from "./answers.ts";
import { type CallerRefusal, identifyCaller } from "./caller.ts";
import type { InternalTokens } from "./internal_tokens.ts";
import type { LiteServer } from "./lite_server.ts";
import { withRequestHeaders } from "./request_headers.ts";
import { toServiceRequest } from "./service_request.ts";

/** Dependencies of the REST, Auth and Storage routes. */
export interface ServiceRouteDeps {
  readonly keys: StackKeys;
  readonly tokens: InternalTokens;
  readonly lite: LiteServer;
}

/** Handles `/rest/v1/*` like PostgREST. */
export async function handleRest(request: Request, deps: ServiceRouteDeps): Promise<Response> {
  const caller = await identifyCaller(request, deps.keys, "key_required");
  if (caller.kind === "refused") return refuseRest(caller.reason);
  const sent = await toServiceRequest(request, caller, deps.tokens);
  return await withRequestHeaders(request, () => deps.lite.fetch(sent));
}

function refuseRest(reason: CallerRefusal): Response {
  return reason === "token_invalid"
    ? restError(401, "PGRST301", "JWT is expired or was not signed by this project")
    : refuseKey(reason);
}

/** Returns the response to a missing or wrong API key. It is the same for all services. */
export function refuseKey(reason: Exclude<CallerRefusal, "token_invalid">): Response {
  switch (reason) {
    case "key_missing":
      return jsonAnswer(401, {
        message: "No API key found in request",
        hint: "No `apikey` request header or url param was found.",
      });
    case "key_invalid":
      return jsonAnswer(401, {
        message: "Invalid API key",
        hint: "Double check your Supabase publishable or secret API key.",
      });
    case "key_in_browser":
      return jsonAnswer(401, { message: "Forbidden use of secret API key in browser" });
  }
}
