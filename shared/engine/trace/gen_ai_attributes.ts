import type { ToolCall } from "../agent/planned_call.ts";
import type { TaskContext } from "../agent/task_context.ts";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import type { ToolCallOutcome } from "../../gateway/tool_contracts/tool_call.ts";
import type { SpanAttributes } from "../../platform/telemetry/span.ts";
import type { TracedModelAnswer, TracedModelCall } from "./task_trace.ts";
import { ownMember } from "../../platform/values/own_member.ts";

/**
 * Attributes by OpenTelemetry's conventions for generative AI: names, settings and counts. Texts of
 * people and models, arguments and results are omitted.
 */
export function modelAttributes({ agent, provider }: TracedModelCall): SpanAttributes {
  return {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": provider === null
      ? null
      : ownMember(PROVIDERS, provider.name) ?? provider.name,
    "gen_ai.request.model": agent?.model ?? provider?.default_model,
    "gen_ai.request.temperature": agent?.temperature,
    "gen_ai.request.max_tokens": agent?.max_tokens,
    "gen_ai.agent.name": agent?.slug,
  };
}

/** Providers whose name in the conventions differs from ours. */
const PROVIDERS: Readonly<Record<string, string>> = { google: "gcp.gemini" };

/** `chat` with the model's name, as in the conventions. */
export function modelSpanName({ agent, provider }: TracedModelCall): string {
  const model = agent?.model ?? provider?.default_model;
  return model === undefined ? "chat" : `chat ${model}`;
}

/** The usage and finish reason of a model's answer. */
export function answerAttributes({ answer, usage }: TracedModelAnswer): SpanAttributes {
  return {
    "gen_ai.response.finish_reasons": [answer.finish_reason],
    "gen_ai.usage.input_tokens": usage.input_tokens,
    "gen_ai.usage.cache_read.input_tokens": usage.cached_input_tokens,
    "gen_ai.usage.output_tokens": usage.output_tokens,
  };
}

/** The called tool and the model's call id. */
export function toolAttributes({ tool, intent, attempt }: ToolCall): SpanAttributes {
  return {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": tool.toolName,
    "gen_ai.tool.call.id": intent.call_id,
    "supaswarm.tool_server": tool.server,
    "supaswarm.tool_attempt": attempt,
  };
}

/** The call's row in the ledger. */
export function outcomeAttributes(outcome: ToolCallOutcome | SwarmError): SpanAttributes {
  return outcome instanceof SwarmError ? {} : { "supaswarm.execution_id": outcome.executionId };
}

/** The error code of a tool call, or null on success. */
export function outcomeError(outcome: ToolCallOutcome | SwarmError): string | null {
  if (outcome instanceof SwarmError) return outcome.code;
  if (outcome.kind === "unknown") return "TOOL_OUTCOME_UNKNOWN";
  if (outcome.kind === "input_required") return null;
  return outcome.isError ? outcome.errorCode ?? "TOOL_FAILED" : null;
}

/** The running task and its agent. */
export function runAttributes(
  task: TaskContext["task"],
  agent: TaskContext["agent"],
  epoch: string,
): SpanAttributes {
  return {
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.agent.name": task.agent_slug,
    "gen_ai.agent.id": agent?.id,
    "supaswarm.task_id": task.id,
    "supaswarm.master_task_id": task.master_task_id,
    "supaswarm.parent_task_id": task.parent_id,
    "supaswarm.depth": task.depth,
    "supaswarm.attempts": task.attempts,
    "supaswarm.epoch": Number(epoch),
  };
}
