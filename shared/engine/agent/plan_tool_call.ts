import type { JsonObject } from "../../platform/values/json.ts";
import type { AgentTool } from "../../gateway/tool_contracts/agent_tool.ts";
import type { AgentState } from "./agent_state.ts";
import { cutCallResult, isCutCall } from "./cut_turn.ts";
import { failuresInARow } from "./failures_in_a_row.ts";
import { malformedArgumentsResult, unknownToolResult } from "./malformed_call.ts";
import type { CallIntent, PlannedCall } from "./planned_call.ts";
import { refusedRepetition } from "./repeated_calls.ts";
import type { CallStep } from "./task_context.ts";
import type { Turn, TurnCall } from "./turns.ts";
import {
  approvalNotice,
  approvalReview,
  readFlowsBefore,
  rejectedCallResult,
} from "./approval_review.ts";
import type { StepResult } from "./step_result.ts";
import { refusedRerunResult, stillUnknownResult, unknownOutcomeReview } from "./unknown_outcome.ts";

/** A call of a registry tool in its turn. */
export interface ToolCallInTurn {
  readonly entry: TurnCall;
  readonly turn: Turn;
  /** The turns of the same run before it. */
  readonly before: readonly Turn[];
  readonly state: AgentState;
}

/**
 * Plans a call of a registry tool.
 *
 * The task asks a person before a call that the gateway refused until somebody approves it, and
 * before a repetition of a call that a lost worker started, unless the tool is read-only or
 * idempotent, because the outcome is unknown. An approval covers one run.
 */
export function planToolCall({ entry, turn, before, state }: ToolCallInTurn): PlannedCall {
  const { call, seq, step } = entry;
  const tool = state.toolset.tools.find(({ modelName }) => modelName === call.name);
  const intent = toolIntent(entry, tool);
  const settle = (result: StepResult): PlannedCall => ({ kind: "settled", intent, result });
  if (isCutCall(entry, turn)) return settle(cutCallResult(entry, turn));
  const refused = step === null ? refusedRepetition(before, call) : null;
  if (refused !== null) return settle(refused);
  const review = state.context.reviews.find((candidate) => candidate.seq === seq) ?? null;
  const isAnswered = review !== null && review.answered_at !== null;
  const isInDoubt = step !== null && !state.untried.has(seq) && !isRepeatable(step);
  if (isAnswered && review.approved !== true) {
    return settle(
      review.kind === "rerun" ? refusedRerunResult(review) : rejectedCallResult(review),
    );
  }
  if (isAnswered && isInDoubt && review.is_spent) {
    return settle(stillUnknownResult("its worker ended before the answer."));
  }
  if (!isAnswered && isInDoubt) return unknownOutcomeReview(intent);
  if (call.arguments === null) return settle(malformedArgumentsResult(call));
  if (tool === undefined) return settle(unknownToolResult(call.name, state.toolset));
  const asked = state.asked.get(seq);
  if (!isAnswered && asked !== undefined) return approvalReview(intent, tool, asked);
  return {
    kind: "tool",
    intent,
    tool,
    arguments: review?.approved_arguments ?? call.arguments,
    attempt: failuresInARow(state.steps, tool, turn.modelSeq) + 1,
    isRerun: isInDoubt,
    readFlows: readFlowsBefore(turn.modelSeq, state),
    notice: review === null ? null : approvalNotice(call.arguments, review),
  };
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
