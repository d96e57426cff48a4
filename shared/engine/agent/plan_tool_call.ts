import type { JsonObject } from "../../platform/values/json.ts";
import type { AgentTool } from "../../gateway/tool_contracts/agent_tool.ts";
import type { AgentState } from "./agent_state.ts";
import { failuresInARow } from "./failures_in_a_row.ts";
import { malformedArgumentsResult, unknownToolResult } from "./malformed_call.ts";
import type { CallIntent, PlannedCall } from "./planned_call.ts";
import type { CallStep } from "./task_context.ts";
import type { Turn, TurnCall } from "./turns.ts";
import {
  needsSendingReview,
  refusedSendingResult,
  sendingReview,
} from "../../agent/sending_review.ts";
import { refusedRerunResult, stillUnknownResult, unknownOutcomeReview } from "./unknown_outcome.ts";

/** A call of a registry tool in its turn. */
export interface ToolCallInTurn {
  readonly entry: TurnCall;
  readonly turn: Turn;
  readonly state: AgentState;
}

/**
 * Plans a call of a registry tool.
 *
 * A call that a lost worker started runs again only if the tool is read-only or idempotent, or if a
 * person approved it. Otherwise the task asks a person, because the outcome is unknown. It also
 * asks before a call that could send private data outside. An approval covers one run.
 */
export function planToolCall({ entry, turn, state }: ToolCallInTurn): PlannedCall {
  const { call, seq, step } = entry;
  const tool = state.toolset.tools.find(({ modelName }) => modelName === call.name);
  const intent = toolIntent(entry, tool);
  const sends = tool !== undefined && call.arguments !== null &&
    needsSendingReview(tool, state, turn.modelSeq);
  const isInDoubt = step !== null && !state.untried.has(seq) && !isRepeatable(step);
  if (isInDoubt || sends) {
    const review = state.context.reviews.find((candidate) => candidate.seq === seq);
    if (review === undefined || review.answered_at === null) {
      return sends ? sendingReview(intent, tool) : unknownOutcomeReview(intent);
    }
    if (review.approved !== true) {
      const result = sends ? refusedSendingResult(review) : refusedRerunResult(review);
      return { kind: "settled", intent, result };
    }
    if (isInDoubt && review.is_spent) {
      const result = stillUnknownResult("its worker ended before the answer.");
      return { kind: "settled", intent, result };
    }
  }
  if (call.arguments === null) {
    return { kind: "settled", intent, result: malformedArgumentsResult(call) };
  }
  if (tool === undefined) {
    return { kind: "settled", intent, result: unknownToolResult(call.name, state.toolset) };
  }
  const attempt = failuresInARow(state.steps, tool, turn.modelSeq) + 1;
  return { kind: "tool", intent, tool, arguments: call.arguments, attempt, isRerun: isInDoubt };
}

function toolIntent({ seq, call }: TurnCall, tool: AgentTool | undefined): CallIntent {
  const input: JsonObject = {
    server: tool?.server ?? null,
    model_name: call.name,
    arguments: call.arguments,
    is_read_only: tool?.isReadOnly ?? false,
    is_idempotent: tool?.isIdempotent ?? false,
    data_flows: [...tool?.dataFlows ?? []],
  };
  return { seq, kind: "tool", name: tool?.toolName ?? call.name, call_id: call.call_id, input };
}

/** Uses the hints recorded when the call started, because the tool may have changed since. */
function isRepeatable(step: CallStep): boolean {
  return step.input?.is_read_only === true || step.input?.is_idempotent === true;
}
