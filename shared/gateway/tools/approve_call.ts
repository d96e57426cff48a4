import { canonicalJson } from "../../platform/values/canonical_json.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../platform/values/json.ts";
import { type ApprovalReason, ApprovalRequired } from "../tool_contracts/approval.ts";
import type { DataFlow } from "../tool_contracts/data_flow.ts";
import type { ApprovalCondition, ApprovalRule } from "../tool_contracts/tool_records.ts";
import { type AdmittedCall, type ApprovedCall, endedUnsent, type Staged } from "./call_stages.ts";
import { pointerNames } from "../../platform/values/json_pointer.ts";

/**
 * Ends an agent's call if a person has to approve it first: by the rules of `agent_approvals`, or
 * because the job has read private data and untrusted text and the tool sends data outside. A tool
 * may ask for an approval of its own later, such as one for a write.
 */
export function approveCall(call: AdmittedCall): Staged<ApprovedCall> {
  const { record: { approval }, request, scopes } = call;
  if (approval === null) return approved(call, "none");
  if (approval.approved_arguments !== null) return approved(call, "given");
  const { rules } = approval;
  const { readFlows = [], toolFlows = [] } = request.approval ?? {};
  const isAsked = rules.some((rule) => doesAsk(rule, request.arguments, readFlows));
  const isNever = !isAsked && rules.some(({ ask }) => ask === "never");
  const reasons: ApprovalReason[] = [
    ...(isAsked ? ["rule" as const] : []),
    ...(!isNever && sendsPrivateData(toolFlows, readFlows) ? ["data_flow" as const] : []),
  ];
  if (reasons.length === 0) return approved(call, rules.length > 0 ? "waived" : "none");
  return endedUnsent(call, new ApprovalRequired({ reasons, scopes }));
}

function approved(call: AdmittedCall, approval: ApprovedCall["approval"]): Staged<ApprovedCall> {
  return { kind: "next", call: { ...call, approval } };
}

/** Untrusted text may have instructed the agent to send the private data away. */
function sendsPrivateData(toolFlows: readonly DataFlow[], readFlows: readonly DataFlow[]): boolean {
  return toolFlows.includes("sends_outside") && readFlows.includes("reads_private") &&
    readFlows.includes("reads_outside");
}

/** Whether a rule asks a person before a call with these arguments, in a job that read these flows. */
export function doesAsk(
  { ask, conditions }: ApprovalRule,
  args: JsonObject,
  readFlows: readonly DataFlow[],
): boolean {
  switch (ask) {
    case "never":
      return false;
    case "always":
      return true;
    case "when":
      return conditions.some((condition) =>
        "data_flow" in condition
          ? readFlows.includes(condition.data_flow)
          : holds(condition, valuesAt(args, condition.argument))
      );
  }
}

type ArgumentCondition = Extract<ApprovalCondition, { readonly argument: string }>;

/** Whether a condition holds for one of the values; a comparison also holds if it is impossible. */
function holds({ operator, value }: ArgumentCondition, given: readonly JsonValue[]): boolean {
  const compare = (isHeld: (number: number, limit: number) => boolean) =>
    given.length === 0 ||
    given.some((item) =>
      typeof item !== "number" || typeof value !== "number" || isHeld(item, value)
    );
  const members = Array.isArray(value) ? value : [];
  switch (operator) {
    case "equals":
      return given.some((item) => isSame(item, value));
    case "not_equals":
      return given.length === 0 || given.some((item) => !isSame(item, value));
    case "one_of":
      return given.some((item) => members.some((member) => isSame(item, member)));
    case "none_of":
      return given.length === 0 ||
        given.some((item) => !members.some((member) => isSame(item, member)));
    case "contains":
      return given.some((item) => containsValue(item, value));
    case "above":
      return compare((number, limit) => number > limit);
    case "at_least":
      return compare((number, limit) => number >= limit);
    case "below":
      return compare((number, limit) => number < limit);
    case "at_most":
      return compare((number, limit) => number <= limit);
  }
}

/** Text contains text in any case; a list contains an equal item, or one that contains the value. */
function containsValue(item: JsonValue, value: JsonValue): boolean {
  if (Array.isArray(item)) {
    return item.some((member: JsonValue) => isSame(member, value) || containsValue(member, value));
  }
  return typeof item === "string" &&
    item.toLowerCase().includes(String(value).toLowerCase());
}

/** The values at a JSON Pointer, in which `*` stands for every item of a list. */
function valuesAt(args: JsonObject, pointer: string): readonly JsonValue[] {
  return pointerNames(pointer).reduce<readonly JsonValue[]>(
    (values, name) => values.flatMap((value) => membersOf(value, name)),
    [args],
  );
}

function membersOf(value: JsonValue, name: string): readonly JsonValue[] {
  if (Array.isArray(value)) {
    if (name === "*") return value;
    return /^\d+$/.test(name) ? value.slice(Number(name), Number(name) + 1) : [];
  }
  return isJsonObject(value) && Object.hasOwn(value, name) ? [value[name] ?? null] : [];
}

function isSame(one: JsonValue, other: JsonValue): boolean {
  return canonicalJson(one) === canonicalJson(other);
}
