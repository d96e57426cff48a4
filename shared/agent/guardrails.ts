import type { JsonObject, JsonValue } from "../json.ts";
import type { StepIntent } from "./planned_call.ts";
import type { GuardrailStep, Step, TaskContext } from "./task_context.ts";

type Guardrail = TaskContext["guardrails"][number];
type Stage = Guardrail["stage"];

/** A pending check: a call through the gateway, recorded as its own step. */
export interface GuardrailCheck {
  readonly intent: StepIntent & { readonly kind: "guardrail"; readonly name: string };
  readonly server: string;
  readonly toolName: string;
  readonly arguments: JsonObject;
}

/** The verdict of one stage's checks. */
export type GuardrailVerdict =
  | { readonly kind: "pending"; readonly checks: readonly GuardrailCheck[] }
  | { readonly kind: "refused"; readonly guardrail: string; readonly reason: string }
  | { readonly kind: "allowed"; readonly content: JsonValue };

/** What is checked, and which steps hold its checks. */
export interface GuardrailQuestion {
  readonly stage: Stage;
  readonly guardrails: readonly Guardrail[];
  readonly steps: readonly Step[];
  readonly content: JsonValue;
  /** The message that started the run: 0 for the task's input. */
  readonly messageSeq: number;
  /** The checks of this run follow this step. */
  readonly afterSeq: number;
  /** The first step number available to new checks. */
  readonly firstSeq: number;
}

/**
 * The current verdict of a stage: missing checks, a refusal, or the value that the checks allow.
 */
export function judge(question: GuardrailQuestion): GuardrailVerdict {
  const { stage, steps, content, messageSeq, afterSeq, firstSeq } = question;
  const guardrails = question.guardrails.filter((guardrail) => guardrail.stage === stage);
  const made = guardrails.map((_, index) =>
    steps.find((step): step is GuardrailStep =>
      step.kind === "guardrail" && step.seq > afterSeq && step.input.stage === stage &&
      step.input.index === index
    )
  );
  const refusal = made.find((step) => step?.state === "failed");
  if (refusal !== undefined) {
    return { kind: "refused", guardrail: refusal.name, reason: refusal.output?.text ?? "" };
  }
  const checks = guardrails.flatMap(({ server, tool_name: toolName }, index): GuardrailCheck[] => {
    if (made[index]?.state === "done") return [];
    const seq = made[index]?.seq ?? firstSeq + index;
    const args = { stage, content };
    const input = { server, stage, index, message_seq: messageSeq, arguments: args };
    const call_id = `guardrail_${seq}`;
    const intent = { seq, kind: "guardrail", name: toolName, call_id, input } as const;
    return [{ intent, server, toolName, arguments: args }];
  });
  if (checks.length > 0) return { kind: "pending", checks };
  const replacements = made.flatMap((step) => step?.output?.replacement ?? []);
  return { kind: "allowed", content: replacements.at(-1) ?? content };
}

/** The task's input (0) or a later message, as allowed by the guardrails. */
export function checkedMessage(
  steps: readonly Step[],
  messageSeq: number,
  input: JsonValue,
): JsonValue {
  const replacements = steps.flatMap((step) =>
    step.kind === "guardrail" && step.input.stage === "input" &&
      step.input.message_seq === messageSeq
      ? step.output?.replacement ?? []
      : []
  );
  return replacements.at(-1) ?? input;
}
