import type { Config } from "../platform/config/env.ts";
import { FUNCTION_NAMES } from "../platform/values/function_names.ts";
import type { Caller } from "../platform/http/authenticate.ts";
import { definedOnly } from "../platform/values/defined_only.ts";
import { knownError } from "../platform/http/error_response.ts";
import { eventStreamResponse, wantsEventStream } from "../platform/http/event_stream.ts";
import { createHttpHandler, type HttpContext } from "../platform/http/http_handler.ts";
import { parseBody } from "../platform/http/parse_body.ts";
import { traceparentOf, tracestateOf } from "../platform/http/trace_context.ts";
import type { Logger } from "../platform/log/logger.ts";
import { assertMayActFor, codeOfNul, executeRequest } from "../gateway/execute/execute_request.ts";
import { REQUEST_LIMITS } from "../platform/json/json_limits.ts";
import { executeTool } from "../gateway/execute/execute_tool.ts";
import { parseListingQuery } from "../gateway/execute/listing_query.ts";
import { describeServer, listServers } from "../gateway/execute/server_listing.ts";
import { toToolCaller } from "../gateway/mcp/to_tool_caller.ts";
import type { StreamedText } from "../gateway/tool_contracts/tool_call.ts";
import type { App } from "./app.ts";
import { openGatewayEndpoint } from "./gateway_endpoint.ts";
import { runInBackground } from "../platform/isolate/run_in_background.ts";

/** Composes `mcp-execute`: GET lists servers and tools, POST calls a tool. */
export function createMcpExecuteApp(config: Config, log: Logger): App {
  const endpoint = openGatewayEndpoint(FUNCTION_NAMES.execute, config, log);
  const { gateway } = endpoint;

  const fetch = createHttpHandler(
    { methods: ["GET", "POST"], ...endpoint.handling },
    async (request, context) => {
      const who = await endpoint.authenticate(request);
      if (request.method === "GET") return Response.json(await list(request, who));
      const execute = await toExecution(request, who);
      return wantsEventStream(request)
        ? streamed(execute, context)
        : Response.json(await execute(request.signal));
    },
  );
  return { fetch, close: endpoint.close };

  async function list(request: Request, who: Caller) {
    const { server, refresh } = parseListingQuery(new URL(request.url));
    await endpoint.registerServers();
    const options = { gateway, caller: toToolCaller(who, {}), signal: request.signal };
    return server === null
      ? await listServers(options)
      : await describeServer(server, refresh, options);
  }

  /** Reads a request to call a tool; the answer can be complete or streamed. */
  async function toExecution(request: Request, who: Caller): Promise<Execution> {
    const body = await parseBody(request, executeRequest, REQUEST_LIMITS, codeOfNul);
    assertMayActFor(body, who);
    await endpoint.registerServers();
    const caller = toToolCaller(who, {
      clientName: request.headers.get("x-client-info")?.slice(0, 200) ?? null,
      sessionId: body.session_id ?? null,
      agentId: body.agent_id ?? null,
      onBehalfOf: body.on_behalf_of ?? null,
      taskId: body.task_id ?? null,
    });
    return async (signal, onText) => {
      const call = executeTool(body, {
        gateway,
        caller,
        traceparent: traceparentOf(request),
        tracestate: tracestateOf(request),
        signal,
        ...definedOnly({ onText }),
      });
      // A disconnected caller ends the call; the instance stays until that is recorded.
      runInBackground(call.catch(() => {}));
      const result = await call;
      endpoint.checkSession();
      return result;
    };
  }

  /** Streams parts of the text, followed by the content of the plain answer. */
  function streamed(execute: Execution, { requestId }: HttpContext): Response {
    return eventStreamResponse(async (send, signal) => {
      try {
        send(
          "result",
          await execute(
            signal,
            ({ text, isRestart }) => send("delta", isRestart ? { text, restart: true } : { text }),
          ),
        );
      } catch (error) {
        if (signal.aborted) return;
        const known = knownError(error, { log, requestId });
        send("error", { error: known.toBody() });
      }
    });
  }
}

/** A call that was read but not yet made. */
type Execution = (
  signal: AbortSignal,
  onText?: (text: StreamedText) => void,
) => ReturnType<typeof executeTool>;
