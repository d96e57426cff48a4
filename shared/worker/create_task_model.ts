import type { CallModel } from "../llm/call_model.ts";
import type { ModelResponse } from "../llm/model_port.ts";
import type { ModelOutput } from "../agent/task_context.ts";
import { SwarmError } from "../errors/swarm_error.ts";
import type { CallTaskModel } from "./task_ports.ts";

/**
 * Lets tasks ask models through the product's model port: as the task's owner, with the agent's
 * settings, and within a time limit.
 */
export function createTaskModel(callModel: CallModel, modelTimeoutSeconds: number): CallTaskModel {
  return async ({ context: { agent, provider, task }, prompt, stream, onDelta, signal }) => {
    const timeout = AbortSignal.timeout(modelTimeoutSeconds * 1_000);
    try {
      const { response, usage } = await callModel({
        provider,
        settings: {
          model: agent?.model ?? null,
          temperature: agent?.temperature ?? null,
          max_tokens: agent?.max_tokens ?? null,
        },
        userId: task.created_by,
        prompt,
        ...(stream ? { onDelta } : {}),
        signal: AbortSignal.any([signal, timeout]),
      });
      return { output: toOutput(response), usage: { ...usage } };
    } catch (error) {
      if (timeout.aborted && !signal.aborted) throw timedOut(modelTimeoutSeconds, error);
      throw error;
    }
  };
}

function toOutput({ text, toolCalls, finishReason, providerData }: ModelResponse): ModelOutput {
  return {
    text,
    tool_calls: toolCalls.map((call) => ({
      call_id: call.callId,
      name: call.name,
      arguments: call.arguments,
      ...(call.malformed === undefined ? {} : { malformed: call.malformed }),
    })),
    finish_reason: finishReason,
    ...(providerData === undefined ? {} : { provider_data: providerData }),
  };
}

function timedOut(seconds: number, cause: unknown): SwarmError {
  return new SwarmError("MODEL_TIMEOUT", `Cannot call the model: no answer within ${seconds} s`, {
    cause,
    hint: "Try again later, use a faster model, or raise SUPASWARM_MODEL_TIMEOUT_SECONDS.",
  });
}
