import type { ApprovalReason } from "../../gateway/tool_contracts/approval.ts";
import type { ProviderTool } from "../../models/llm/model_port.ts";
import type { AgentState } from "./agent_state.ts";
import { readFlowsBefore } from "./approval_review.ts";
import type { ReviewCall } from "./planned_call.ts";

/** The provider's tools for a model call, or the question whether the task may use them. */
export type ProviderToolChoice =
  | { readonly kind: "use"; readonly tools: readonly ProviderTool[] }
  | { readonly kind: "ask"; readonly call: ReviewCall };

/**
 * Chooses the tools that the model's provider runs. The provider runs them inside the model call,
 * so a person cannot be asked before each use: an answer holds for the rest of the task, and a
 * rejection withholds the tools. A task that was allowed to use them by a rule is asked again once
 * they could send private data outside.
 */
export function chooseProviderTools(state: AgentState, modelSeq: number): ProviderToolChoice {
  const { agent, provider_rules: rules, reviews } = state.context;
  const tools = agent?.provider_tools ?? [];
  if (tools.length === 0) return { kind: "use", tools };
  const flows = readFlowsBefore(modelSeq, state);
  const isRisky = flows.includes("reads_private") && flows.includes("reads_outside");
  const answers = reviews.filter(({ kind, answered_at: at }) =>
    kind === "provider_tools" && at !== null
  );
  const open = new Map<ProviderTool, ApprovalReason>();
  const withheld = new Set<ProviderTool>();
  for (const tool of tools) {
    const reason = reasonFor(tool, rules[tool] ?? [], isRisky);
    if (reason === null) continue;
    const answer = answers.findLast(({ reasons }) => reasons?.includes(reason) === true);
    // Before one model call a person is asked once.
    const isAsked = answers.some(({ seq }) => seq === modelSeq);
    if (answer === undefined && !isAsked) open.set(tool, reason);
    else if (answer?.approved !== true) withheld.add(tool);
  }
  if (open.size > 0) return { kind: "ask", call: providerToolsReview(modelSeq, open) };
  return { kind: "use", tools: tools.filter((tool) => !withheld.has(tool)) };
}

function reasonFor(
  tool: ProviderTool,
  asks: readonly string[],
  isRisky: boolean,
): ApprovalReason | null {
  // A search sends its words outside; code runs without a network.
  const isSent = isRisky && tool === "web_search";
  if (asks.includes("always")) return isSent ? "data_flow" : "rule";
  return isSent && !asks.includes("never") ? "data_flow" : null;
}

function providerToolsReview(
  seq: number,
  open: ReadonlyMap<ProviderTool, ApprovalReason>,
): ReviewCall {
  const reasons = [...new Set(open.values())];
  const risk = reasons.includes("data_flow")
    ? " The job has read private data and untrusted text, which may have instructed the agent to " +
      "send it with a search."
    : " A rule requires a person's approval.";
  return {
    kind: "review",
    reviewKind: "provider_tools",
    seq,
    intent: null,
    question: `May the agent use ${[...open.keys()].join(" and ")} of its model's provider until ` +
      `the task ends? The provider runs each use without another question.${risk}`,
    options: null,
    context: { reasons, tools: [...open.keys()] },
  };
}
