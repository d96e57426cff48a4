import { type DataFlow } from "../gateway/tool_contracts/data_flow.ts";
import { flowsIn } from "../gateway/tool_contracts/data_flows_of.ts";
import type { AgentTool } from "../gateway/tool_contracts/agent_tool.ts";
import type { AgentState } from "../engine/agent/agent_state.ts";
import type { CallIntent, ReviewCall } from "../engine/agent/planned_call.ts";
import { errorResult, isRejected, type StepResult } from "../engine/agent/step_result.ts";
import type { Review } from "../engine/agent/task_context.ts";
import { reviewersWords } from "../engine/agent/unknown_outcome.ts";

/**
 * Whether a call needs a person's approval: it sends data outside, and the job has read both
 * private data and untrusted text, which may have instructed the agent to send it.
 *
 * Data read in the same turn cannot have influenced the call's arguments.
 */
export function needsSendingReview(
  { dataFlows }: AgentTool,
  { context, steps }: Pick<AgentState, "context" | "steps">,
  modelSeq: number,
): boolean {
  if (!dataFlows.includes("sends_outside")) return false;
  const flows = new Set<DataFlow>(flowsIn(context.job_data_flows));
  for (const step of steps) {
    if (step.kind !== "tool" || step.seq > modelSeq || isRejected(step.output)) continue;
    for (const flow of flowsIn(step.input?.data_flows)) flows.add(flow);
  }
  return flows.has("reads_private") && flows.has("reads_outside");
}

/** Asks a person whether a call may send data outside; names the data and the destination. */
export function sendingReview(intent: CallIntent, { server, destination }: AgentTool): ReviewCall {
  const where = destination ?? server;
  return {
    kind: "review",
    intent,
    question: `The tool "${intent.name}" of ${server} sends data to ${where}. The job has read ` +
      "private data and untrusted text, which may have instructed the agent to send it. " +
      "May this call be made?",
    options: ["Approve: make the call", "Do not approve: the agent gets a refusal"],
    context: {
      reason: "SENDING_NOT_APPROVED",
      tool: intent.name,
      server,
      destination: where,
      arguments: intent.input?.arguments ?? null,
    },
  };
}

/** The result that the agent sees when a person rejects the call. */
export function refusedSendingResult(review: Review): StepResult {
  return errorResult(
    "SENDING_NOT_APPROVED",
    `The call was not made: a person did not allow it${reviewersWords(review)}`,
  );
}
