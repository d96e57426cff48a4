import type { FlowHost } from "../engine/workflows/create_flow.ts";
import { signTarget } from "../engine/workflows/signal_url.ts";
import type { WorkflowStore } from "../engine/workflows/workflow_store.ts";
import type { Config } from "../platform/config/env.ts";
import { isErrorCode } from "../platform/errors/codes.ts";
import { SwarmError } from "../platform/errors/swarm_error.ts";
import { FUNCTION_NAMES } from "../platform/values/function_names.ts";
import { beginningOf } from "../platform/values/beginning_of.ts";
import { asJsonObject, type JsonObject } from "../platform/values/json.ts";
import { serviceKeyOf } from "./service_key.ts";

/** Where the function that serves workflows receives signals: its address, this and a token. */
export const SIGNALS = "/signals/";
/** Of what a tool answered, in the message of an error. */
const MAX_MESSAGE_LENGTH = 2_000;

/** What the workflows of a function use of the project. */
export function createWorkflowHost(
  runner: string,
  { apiKeys, publicUrl }: Pick<Config, "apiKeys" | "publicUrl">,
  store: Pick<WorkflowStore, "signalKey">,
): FlowHost {
  return {
    async signalUrl(taskId, name) {
      const target = { taskId, name, key: `url ${crypto.randomUUID()}` };
      const token = await signTarget(target, await store.signalKey());
      return `${publicUrl}/functions/v1/${runner}${SIGNALS}${token}`;
    },
    /** Through the gateway, as the task's owner. */
    async callTool(taskId, { server, tool, parameters }, signal) {
      const attempt = `call ${server}.${tool}`;
      let response: Response;
      let answer: JsonObject;
      try {
        response = await fetch(`${apiKeys.url}/functions/v1/${FUNCTION_NAMES.execute}`, {
          method: "POST",
          headers: { "content-type": "application/json", apikey: serviceKeyOf(apiKeys.secretKeys) },
          body: JSON.stringify({ server, tool_name: tool, parameters, task_id: taskId }),
          signal,
        });
        answer = asJsonObject(await response.json());
      } catch (cause) {
        throw new SwarmError(
          "TOOL_OUTCOME_UNKNOWN",
          `Cannot ${attempt}: the answer did not arrive`,
          { cause },
        );
      }
      if (response.ok && answer.isError !== true) {
        const { _meta: _, ...result } = answer;
        return result;
      }
      const { code = answer.error_code, message } = asJsonObject(answer.error);
      throw new SwarmError(
        isErrorCode(code) ? code : "TOOL_FAILED",
        `Cannot ${attempt}: ${
          message ?? beginningOf(JSON.stringify(answer.content), MAX_MESSAGE_LENGTH)
        }`,
      );
    },
  };
}
