import type { JsonObject, JsonValue } from "../../platform/values/json.ts";
import type { AgentTool } from "../../gateway/tool_contracts/agent_tool.ts";
import type { DataFlow } from "../../gateway/tool_contracts/data_flow.ts";
import type { StepResult } from "./step_result.ts";
import type { CallStep, Review, Step } from "./task_context.ts";

/** A step as it is written before it runs. */
export interface StepIntent {
  readonly seq: number;
  readonly kind: Step["kind"];
  readonly name: string | null;
  readonly call_id: string | null;
  readonly input: JsonObject | null;
}

/** Shared by all planned calls: the step it fills. */
export interface CallIntent extends StepIntent {
  readonly kind: CallStep["kind"];
  readonly name: string;
  readonly call_id: string;
}

/** Ends with a result that is known without a call. */
export interface SettledCall {
  readonly kind: "settled";
  readonly intent: CallIntent;
  readonly result: StepResult;
}

/** Goes through the tool gateway. */
export interface ToolCall {
  readonly kind: "tool";
  readonly intent: CallIntent;
  readonly tool: AgentTool;
  readonly arguments: JsonObject;
  /** 1 for the first try of this tool in a row. */
  readonly attempt: number;
  /** Its step was started before; a person has approved that it runs now. */
  readonly isRerun: boolean;
  /** The data flows of the calls before the model's turn. */
  readonly readFlows: readonly DataFlow[];
  /** What the model learns about the approval; null if there is nothing to say. */
  readonly notice: string | null;
}

/** Reads a skill's instructions, or one of its resources. */
export interface SkillCall {
  readonly kind: "skill";
  readonly intent: CallIntent;
  readonly skillId: string;
  /** Null for the instructions. */
  readonly resource: string | null;
}

/** Reads a stored result again, which may be missing in the transcript that the worker has. */
export interface RecallCall {
  readonly kind: "recall";
  readonly intent: CallIntent;
  readonly step: number;
  /** Characters to skip. */
  readonly offset: number;
}

/** Keeps a value with the task. */
export interface SaveCall {
  readonly kind: "save";
  readonly intent: CallIntent;
  readonly key: string;
  readonly value: JsonValue;
}

/** Hands work to another agent; the result arrives when the subtask ends. */
export interface SubtaskCall {
  readonly kind: "subtask";
  readonly intent: CallIntent;
  readonly agent: string;
  readonly input: JsonValue;
}

/** Asks a person; the answer provides the result or permits another call of the tool. */
export interface ReviewCall {
  readonly kind: "review";
  readonly reviewKind: Review["kind"];
  /** The step that asks. */
  readonly seq: number;
  /** Null if the question comes before a model call, whose step has not begun. */
  readonly intent: CallIntent | null;
  readonly question: string;
  readonly options: JsonValue;
  readonly context: JsonValue;
}

/** Ends the task. */
export interface CompletionCall {
  readonly kind: "completion";
  readonly intent: CallIntent;
  readonly output: JsonValue;
}

/** A call that can run now, independently of others. */
export type RunnableCall = SettledCall | ToolCall | SkillCall | RecallCall | SaveCall;

/** An unfinished call of a turn and its next action. */
export type PlannedCall = RunnableCall | SubtaskCall | ReviewCall | CompletionCall;
