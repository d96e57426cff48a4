import { describeIssues } from "../../platform/values/describe_issues.ts";
import type { AgentState } from "./agent_state.ts";
import { completionTerms, misfitResult } from "./completion.ts";
import { cutCallResult, isCutCall } from "./cut_turn.ts";
import { completionConflict, repeatedConflict } from "./completion_conflict.ts";
import { fitOutput } from "./fit_output.ts";
import { malformedArgumentsResult, unfitArgumentsResult } from "./malformed_call.ts";
import { searchTools } from "./offer_tools.ts";
import { nearestNames } from "../../platform/values/nearest_names.ts";
import type { CallIntent, PlannedCall } from "./planned_call.ts";
import { nothingToRecall } from "./recalled_result.ts";
import { refusedRepetition } from "./repeated_calls.ts";
import { errorResult, type StepResult } from "./step_result.ts";
import {
  SYSTEM_TOOL_ARGUMENTS,
  type SystemToolArguments,
  type SystemToolName,
} from "./system_tools.ts";
import type { Turn, TurnCall } from "./turns.ts";

/** A call of a system tool in its turn. */
export interface SystemCallInTurn {
  readonly name: SystemToolName;
  readonly entry: TurnCall;
  readonly turn: Turn;
  /** The turns of the same run before it. */
  readonly before: readonly Turn[];
  readonly state: AgentState;
}

/** Plans a call of a system tool. All system tools are safe to repeat. */
export function planSystemCall(request: SystemCallInTurn): PlannedCall {
  const { name, entry, turn, before } = request;
  const { seq, call, step } = entry;
  const input = { arguments: call.arguments };
  const intent: CallIntent = { seq, kind: "system", name, call_id: call.call_id, input };
  const settle = (result: StepResult): PlannedCall => ({ kind: "settled", intent, result });
  if (isCutCall(entry, turn)) return settle(cutCallResult(entry, turn));
  if (step === null) {
    const refused = repeatedConflict(name, turn, before.at(-1)) ?? refusedRepetition(before, call);
    if (refused !== null) return settle(refused);
  }
  if (call.arguments === null) return settle(malformedArgumentsResult(call));
  switch (name) {
    case "create_subtask":
      return withArguments(name, entry, settle, ({ agent, input }) => (
        { kind: "subtask", intent, agent, input }
      ));
    case "request_human_review":
      return withArguments(name, entry, settle, ({ question, options, context }) => (
        {
          kind: "review",
          reviewKind: "question",
          seq,
          intent,
          question,
          options: options ?? null,
          context: context ?? null,
        }
      ));
    case "save_intermediate_data":
      return withArguments(name, entry, settle, ({ key, value }) => (
        { kind: "save", intent, key, value }
      ));
    case "load_skill":
      return withArguments(name, entry, settle, ({ skill_id, resource }) => {
        const unknown = unknownSkillResult(skill_id, request.state);
        if (unknown !== null) return settle(unknown);
        return { kind: "skill", intent, skillId: skill_id, resource: resource ?? null };
      });
    case "search_tools":
      return withArguments(
        name,
        entry,
        settle,
        ({ query }) => settle(searchTools(query, request.state.toolset)),
      );
    case "recall_result":
      return withArguments(name, entry, settle, ({ step, offset = 0 }) => (
        step < request.turn.modelSeq
          ? { kind: "recall", intent, step, offset }
          : settle(nothingToRecall(step))
      ));
    case "complete_task":
      return withArguments(name, entry, settle, ({ output }) => {
        const conflict = completionConflict(entry, turn);
        if (conflict !== null) return settle(conflict);
        const { outputSchema } = completionTerms(request.state.context);
        if (outputSchema === null) return { kind: "completion", intent, output };
        const fit = fitOutput(output, outputSchema);
        switch (fit.kind) {
          case "fits":
            return { kind: "completion", intent, output: fit.output };
          case "misfits":
            return settle(misfitResult(fit.issues));
          case "undecided":
            return settle(errorResult("OUTPUT_SCHEMA_INVALID", fit.reason));
        }
      });
  }
}

function withArguments<Name extends SystemToolName>(
  name: Name,
  { call }: TurnCall,
  settle: (result: StepResult) => PlannedCall,
  plan: (parsed: SystemToolArguments<Name>) => PlannedCall,
): PlannedCall {
  const parsed = SYSTEM_TOOL_ARGUMENTS[name].safeParse(call.arguments);
  if (!parsed.success) return settle(unfitArgumentsResult(name, describeIssues(parsed.error)));
  // The schema with this name parsed the value; TypeScript cannot narrow the union here.
  return plan(parsed.data as SystemToolArguments<Name>);
}

function unknownSkillResult(skillId: string, { context }: AgentState): StepResult | null {
  const ids = context.skills.map((skill) => skill.skill_id);
  if (ids.includes(skillId)) return null;
  const nearest = nearestNames(skillId, ids);
  const advice = nearest.length > 0
    ? `Did you mean ${nearest.join(" or ")}?`
    : ids.length > 0
    ? `Your skills are: ${ids.join(", ")}.`
    : "You have no skills.";
  return errorResult("SKILL_NOT_FOUND", `You have no skill "${skillId.slice(0, 100)}". ${advice}`);
}
