import { SwarmError } from "../../../../platform/errors/swarm_error.ts";
import { TASK_HEADER, TOOL_TOKEN_HEADER } from "../../../../platform/http/actor_headers.ts";
import { toTraceHeaders } from "../../../../platform/http/trace_context.ts";
import type { JsonObject } from "../../../../platform/values/json.ts";
import { mayHaveBeenSent } from "../../../../platform/net/fetch_failure.ts";
import { withDeadline } from "../../../../platform/values/with_deadline.ts";
import { readHttpAnswer } from "../http/http_answer.ts";
import { noConnection } from "../http/no_connection.ts";
import type { EdgeFunctionConfig } from "../../../tool_contracts/tool_config.ts";
import type { ServerAnswer, ServerCall, ToolServer } from "../../../tool_contracts/tool_server.ts";

interface EdgeFunctionOptions {
  readonly description: string | null;
  readonly config: EdgeFunctionConfig;
  readonly supabaseUrl: string;
  /** Creates the token that the function gets with a call. */
  readonly issueToken: (call: ServerCall) => Promise<string>;
}

/** The schema for a function without declared parameters. */
const ANY_ARGUMENTS: JsonObject = {
  type: "object",
  properties: {},
  additionalProperties: true,
};

/**
 * An edge function of the project as a server with one tool. The arguments are its JSON body,
 * headers name the caller if known (`x-supaswarm-user-id`, `x-supaswarm-task-id`,
 * `x-supaswarm-agent-id`), and `x-supaswarm-token` authenticates the call. It does not get a key of
 * the project.
 */
export function openEdgeFunction(options: EdgeFunctionOptions): ToolServer {
  const { config, description } = options;
  const definition = {
    name: config.edge_function,
    description: description ?? `Calls the edge function ${config.edge_function}.`,
    inputSchema: config.parameters ?? ANY_ARGUMENTS,
    annotations: {
      readOnlyHint: config.read_only ?? false,
      idempotentHint: config.idempotent ?? false,
    },
  };
  return {
    listTools: () => Promise.resolve({ tools: [definition], dropped: [] }),
    callTool: (call, signal) => send(options, call, signal),
  };
}

async function send(
  options: EdgeFunctionOptions,
  call: ServerCall,
  signal: AbortSignal,
): Promise<ServerAnswer> {
  const { config, supabaseUrl } = options;
  const { timeoutMs } = call;
  const name = config.edge_function;
  const token = await options.issueToken(call);
  let isAnswered = false;
  try {
    const timed = await withDeadline(timeoutMs, signal, async (deadline) => {
      // The project's own address, set by its operator, may be private: it needs no guard.
      const response = await fetch(`${supabaseUrl}/functions/v1/${name}`, {
        method: "POST",
        headers: headersOf(call, token),
        body: JSON.stringify(call.arguments),
        redirect: "error",
        signal: deadline,
      });
      isAnswered = true;
      return await readHttpAnswer(response, { server: name, credential: null });
    });
    if (timed.kind === "done") return timed.value;
  } catch (error) {
    if (signal.aborted || error instanceof SwarmError) throw error;
    const message = `The connection to the edge function '${name}' broke`;
    if (isAnswered || mayHaveBeenSent(error)) return { kind: "lost", cause: "connection", message };
    throw noConnection(
      `the edge function '${name}'`,
      "Check that the function is deployed.",
      error,
    );
  }
  const message = `The edge function '${name}' did not respond within ${timeoutMs} ms`;
  return { kind: "lost", cause: "timeout", message };
}

function headersOf(call: ServerCall, token: string): Headers {
  const { userId, taskId, agentId } = call.caller;
  const headers = new Headers({
    [TOOL_TOKEN_HEADER]: token,
    "content-type": "application/json",
    "idempotency-key": call.idempotencyKey,
    ...toTraceHeaders(call),
  });
  const named = {
    "x-supaswarm-user-id": userId,
    [TASK_HEADER]: taskId,
    "x-supaswarm-agent-id": agentId,
  };
  for (const [name, value] of Object.entries(named)) {
    if (value !== null) headers.set(name, value);
  }
  return headers;
}
