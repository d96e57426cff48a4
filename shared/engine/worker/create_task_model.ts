import type { CallModel } from "../../models/llm/call_model.ts";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import { attachFiles, type FilePorts } from "./attach_files.ts";
import type { CallTaskModel } from "./task_ports.ts";

/**
 * Lets tasks call models through the product's model port: as the task's owner, with the agent's
 * settings, with the files in its messages, and within a time limit.
 */
export function createTaskModel(
  callModel: CallModel,
  modelTimeoutSeconds: number,
  files: FilePorts,
): CallTaskModel {
  return async (call) => {
    const { context, prompt, hasOptionalLimit, stream, onFallback, signal } = call;
    const { agent, provider, fallbacks, task } = context;
    const timeout = AbortSignal.timeout(modelTimeoutSeconds * 1_000);
    try {
      const messages = await attachFiles(prompt.messages, task.created_by, files, signal);
      return await callModel({
        provider,
        fallbacks: fallbacks.filter(({ is_priced }) => is_priced || !task.has_cost_cap),
        onFallback,
        // Whoever tries a model wants its answers.
        mayStandIn: !task.has_changed_model,
        settings: {
          model: agent?.model ?? null,
          temperature: agent?.temperature ?? null,
          max_tokens: agent?.max_tokens ?? null,
          has_optional_limit: hasOptionalLimit,
          reasoning_effort: agent?.reasoning_effort ?? null,
          provider_tools: agent?.provider_tools ?? [],
        },
        userId: task.created_by,
        agent: task.agent_slug,
        taskId: task.id,
        prompt: { ...prompt, messages },
        ...(stream ? { onDelta: call.onDelta, streamPauseMs: call.streamPauseMs } : {}),
        signal: AbortSignal.any([signal, timeout]),
      });
    } catch (error) {
      if (timeout.aborted && !signal.aborted) throw timedOut(modelTimeoutSeconds, error);
      throw error;
    }
  };
}

function timedOut(seconds: number, cause: unknown): SwarmError {
  return new SwarmError("MODEL_TIMEOUT", `Cannot call the model: no answer within ${seconds} s`, {
    cause,
    hint: "Try again later, use a faster model, or raise SUPASWARM_MODEL_TIMEOUT_SECONDS.",
  });
}
