import type { Config } from "../platform/config/env.ts";
import { FUNCTION_NAMES } from "../platform/values/function_names.ts";
import { SwarmError } from "../platform/errors/swarm_error.ts";
import { errorResponse } from "../platform/http/error_response.ts";
import { createHttpHandler } from "../platform/http/http_handler.ts";
import { traceparentOf, tracestateOf } from "../platform/http/trace_context.ts";
import type { Logger } from "../platform/log/logger.ts";
import { assertOriginAllowed } from "../gateway/mcp/allowed_origin.ts";
import { answerMessage } from "../gateway/mcp/answer_message.ts";
import { serverOfUrl } from "../gateway/mcp/endpoint_target.ts";
import { type McpMessage, readMessage } from "../gateway/mcp/mcp_message.ts";
import { publicOrigin, resourceUrl } from "../gateway/mcp/public_url.ts";
import { scopeChallenge } from "../gateway/mcp/scope_challenge.ts";
import { SharedLists } from "../gateway/mcp/shared_lists.ts";
import { toToolCaller } from "../gateway/mcp/to_tool_caller.ts";
import { createToolDirectory } from "../gateway/mcp/tool_directory.ts";
import { withOAuthProtectedResource } from "../vendor/supabase_server_oauth.js";
import type { App } from "./app.ts";
import { openGatewayEndpoint } from "./gateway_endpoint.ts";
import { runInBackground } from "../platform/isolate/run_in_background.ts";

/** Name of the edge function, which is the first part of its paths. */
const FUNCTION_NAME = FUNCTION_NAMES.mcp;

/**
 * Composes `mcp`: selects the server, checks origin, caller and scopes, and answers by the
 * protocol. A 401 links to the OAuth metadata of the resource, which is served here too.
 */
export function createMcpApp(config: Config, log: Logger): App {
  const { apiKeys, publicUrl, allowedOrigins } = config;
  const endpoint = openGatewayEndpoint(FUNCTION_NAME, config, log);
  const { gateway } = endpoint;
  const lists = new SharedLists();

  async function answer(request: Request, arrivedAtMs: number): Promise<Response> {
    assertOriginAllowed(request, { projectUrl: apiKeys.url, publicUrl, allowedOrigins });
    const server = serverOfUrl(new URL(request.url), FUNCTION_NAME);
    const who = await endpoint.authenticate(request);
    const message = await readMessage(request);
    const caller = toToolCaller(who, { clientName: message.clientName, joinsSession: true });
    const compute = async (message: McpMessage) => {
      await endpoint.registerServers();
      const { signal } = message.request;
      const directory = createToolDirectory({ gateway, caller, server, log, signal });
      return await answerMessage({
        server,
        message,
        caller,
        directory,
        gateway,
        log,
        traceparent: traceparentOf(request),
        tracestate: tracestateOf(request),
        keepAlive: runInBackground,
      });
    };
    const { headers } = request;
    const identity = [{ ...caller }, headers.get("authorization"), headers.get("apikey")];
    const response = await lists.answer({ message, identity, arrivedAtMs }, compute);
    endpoint.checkSession();
    return response;
  }

  const handling = { methods: ["POST"], ...endpoint.handling };
  const handle = (request: Request, resourceMetadataUrl: string) =>
    createHttpHandler(handling, async (_request, { requestId, arrivedAtMs }) => {
      try {
        return await answer(request, arrivedAtMs);
      } catch (error) {
        if (!(error instanceof SwarmError) || error.code !== "INSUFFICIENT_SCOPE") throw error;
        const response = errorResponse(error, { log, requestId });
        response.headers.set("www-authenticate", scopeChallenge(error, resourceMetadataUrl));
        return response;
      }
    })(request);

  const fetch = withOAuthProtectedResource(
    {
      resourceServer: resourceUrl,
      authorizationServer: (request) => `${publicOrigin(request)}/auth/v1`,
    },
    (request, { oauthProtectedResource }) =>
      handle(request, oauthProtectedResource.resourceMetadataUrl),
  );
  return { fetch, close: endpoint.close };
}
