import type { JsonObject, ToolDraft } from "../../../client/mod.ts";
import { projectSwarm } from "../project/project_client.ts";
import { toRequestError } from "../project/request_error.ts";
import { resultOfError, type ToolResult } from "../results/tool_result.ts";

/** A tool call by the signed-in user. */
export interface ToolCall {
  readonly server: string;
  readonly toolName: string;
  readonly parameters: JsonObject;
  /** Calls the tool of a draft instead of the saved one. */
  readonly draft?: ToolDraft;
  readonly signal?: AbortSignal;
}

/** Runs a tool; a refusal by the gateway is also a result. @throws if it is cancelled */
export async function runTool(
  { server, toolName, parameters, draft, signal }: ToolCall,
): Promise<{ readonly result: ToolResult; readonly tookMs: number }> {
  const startedAt = performance.now();
  const took = () => performance.now() - startedAt;
  try {
    const result = await projectSwarm().tools.call({ server, name: toolName }, parameters, {
      signal,
      ...draft && { draft },
    });
    return { result, tookMs: took() };
  } catch (error) {
    signal?.throwIfAborted();
    return { result: resultOfError(toRequestError(error)), tookMs: took() };
  }
}
