import { SwarmError } from "../../platform/errors/swarm_error.ts";
import type { JsonObject } from "../../platform/values/json.ts";

/**
 * Why a person is asked before an agent's call: a rule of `agent_approvals`; private data could be
 * sent away (see `data_flow.ts`); it writes; the SQL policy requires an approval.
 */
export type ApprovalReason = "rule" | "data_flow" | "write" | "sql_policy";

/** How a condition of a rule of `agent_approvals` compares an argument with its value. */
export const CONDITION_OPERATORS = [
  ...["equals", "not_equals", "above", "at_least", "below", "at_most"] as const,
  ...["one_of", "none_of", "contains"] as const,
] as const;

/**
 * `given`: a person approved this call with these arguments. `waived`: a rule says that nobody is
 * asked. `none`: neither; also for calls that no agent makes.
 */
export type Approval = "given" | "waived" | "none";

/** Why a call needs an approval, and who may give it. */
export interface ApprovalNeed {
  readonly reasons: readonly ApprovalReason[];
  /** The scopes that the call needs, and so everyone who approves it. */
  readonly scopes: readonly string[];
  /** Further facts, such as the plan of a statement. */
  readonly shown?: JsonObject;
}

/** What a person decides about. */
export interface ApprovalQuestion extends ApprovalNeed {
  /** The arguments with which the call runs if they are approved as they are. */
  readonly arguments: JsonObject;
}

/** An agent's call certainly did not run, because a person has to approve it first. */
export class ApprovalRequired extends SwarmError {
  readonly question: ApprovalQuestion;

  /** @param args The call's arguments; a tool leaves them to the gateway. */
  constructor(need: ApprovalNeed, args: JsonObject = {}) {
    super("APPROVAL_REQUIRED", "Cannot make the call: a person has to approve it first", {
      hint: "Call the tool in a task, which asks its owner.",
      details: { reasons: [...need.reasons] },
    });
    this.question = { ...need, arguments: args };
  }
}
