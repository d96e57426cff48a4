import type { ApprovalQuestion, ApprovalReason } from "../../gateway/tool_contracts/approval.ts";
import type { AgentTool } from "../../gateway/tool_contracts/agent_tool.ts";
import type { DataFlow } from "../../gateway/tool_contracts/data_flow.ts";
import { flowsIn } from "../../gateway/tool_contracts/data_flows_of.ts";
import type { JsonObject } from "../../platform/values/json.ts";
import type { AgentState } from "./agent_state.ts";
import type { CallIntent, ReviewCall } from "./planned_call.ts";
import { errorResult, isRejected, type StepResult } from "./step_result.ts";
import type { ModelStep, Review } from "./task_context.ts";

/**
 * The data flows of everything that could have shaped a call of the model: the job's calls before
 * the turn. Data read in the same turn cannot have influenced the call's arguments.
 */
export function readFlowsBefore(
  modelSeq: number,
  { context, steps }: Pick<AgentState, "context" | "steps">,
): readonly DataFlow[] {
  const flows = new Set<DataFlow>(flowsIn(context.job_data_flows));
  for (const step of steps) {
    if (step.seq > modelSeq) continue;
    if (step.kind === "model" && hasSearched(step)) flows.add("reads_outside");
    if (step.kind !== "tool" || isRejected(step.output)) continue;
    for (const flow of flowsIn(step.input?.data_flows)) flows.add(flow);
  }
  return [...flows];
}

/** Whether the model's provider has searched the web in this step. */
function hasSearched({ output }: ModelStep): boolean {
  return output?.provider_tool_calls?.some(({ name }) => name === "web_search") === true;
}

const REASONS: Readonly<Record<ApprovalReason, string>> = {
  rule: "A rule requires a person's approval.",
  data_flow: "The job has read private data and untrusted text, which may have instructed the " +
    "agent to send it.",
  write: "It changes data.",
  sql_policy: "The SQL policy requires the owner's approval for this statement.",
};

/** Asks a person to approve a call of a tool, with these or other arguments. */
export function approvalReview(
  intent: CallIntent,
  { server, destination, inputSchema }: AgentTool,
  { reasons, arguments: args, scopes, shown }: ApprovalQuestion,
): ReviewCall {
  const isSent = reasons.includes("data_flow");
  const where = isSent ? `, which sends data to ${destination ?? server}` : "";
  return {
    kind: "review",
    reviewKind: "call",
    seq: intent.seq,
    intent,
    question: `May the agent call the tool "${intent.name}" of ${server}${where}? ` +
      reasons.map((reason) => REASONS[reason]).join(" "),
    options: null,
    context: {
      reasons: [...reasons],
      server,
      tool: intent.name,
      destination,
      arguments: args,
      input_schema: inputSchema,
      scopes: [...scopes],
      shown: shown ?? null,
    },
  };
}

/** The result that the agent sees when a person rejects the call. */
export function rejectedCallResult(review: Review): StepResult {
  return errorResult(
    "APPROVAL_REJECTED",
    `The call was not made: a person did not approve it${reviewersWords(review)}`,
  );
}

/** What the agent learns about an approval beside the result; null if there is nothing to say. */
export function approvalNotice(asked: JsonObject, review: Review): string | null {
  const { approved_arguments: approved, comments } = review;
  const isEdited = approved !== null && JSON.stringify(approved) !== JSON.stringify(asked);
  if (!isEdited && comments === null) return null;
  const edited = isEdited ? ` with other arguments: ${JSON.stringify(approved)}` : "";
  return `(A person approved this call${edited}${
    comments === null ? "" : `, and says: ${comments}`
  })`;
}

/** The reviewer's comment, as the end of a sentence. */
export function reviewersWords(review: Review): string {
  const words = [
    review.comments ?? "",
    isEmptyAnswer(review) ? "" : JSON.stringify(review.response),
  ].filter((part) => part !== "").join(" ");
  return words === "" ? "." : ` and says: ${words}`;
}

function isEmptyAnswer({ response }: Review): boolean {
  return response === null || (typeof response === "object" && Object.keys(response).length === 0);
}
