import type { JsonObject, JsonValue } from "../../platform/values/json.ts";
import type { StepIntent } from "./planned_call.ts";
import type { GuardrailStep, Step, TaskContext } from "./task_context.ts";
import { isSummary } from "./turns.ts";

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
  // The agent's guardrails may have changed since: another one's verdict does not count.
  const made = guardrails.map(({ server, tool_name: toolName }, index) =>
    steps.find((step): step is GuardrailStep =>
      step.kind === "guardrail" && step.seq > afterSeq && step.input.stage === stage &&
      step.input.index === index && step.input.server === server && step.name === toolName
    )
  );
  const refusal = made.find((step) => step?.state === "failed");
  if (refusal !== undefined) {
    return { kind: "refused", guardrail: refusal.name, reason: refusal.output?.text ?? "" };
  }
  const freeSeqs = freeNumbers(steps, firstSeq);
  const checks = guardrails.flatMap(({ server, tool_name: toolName }, index): GuardrailCheck[] => {
    if (made[index]?.state === "done") return [];
    const seq = made[index]?.seq ?? freeSeqs.next().value;
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

/** The step numbers from `firstSeq` on that no check, and no summary before a further call, has taken. */
function* freeNumbers(steps: readonly Step[], firstSeq: number): Generator<number, never> {
  const isOther = (step: Step) => step.kind === "guardrail" || isSummary(step);
  const taken = new Set(steps.filter(isOther).map(({ seq }) => seq));
  for (let seq = firstSeq;; seq++) if (!taken.has(seq)) yield seq;
}

/** Stands in prompts for a message that was refused, or whose check never ended. */
const REFUSED_MESSAGE = "[A guardrail did not allow this message, so its content is left out.]";

/**
 * The task's input (0) or a later message, as allowed by the guardrails. What they refused is never
 * sent to a model, also not when the user continues the task with another message.
 */
export function checkedMessage(
  steps: readonly Step[],
  messageSeq: number,
  input: JsonValue,
): JsonValue {
  const checks = steps.filter((step): step is GuardrailStep =>
    step.kind === "guardrail" && step.input.stage === "input" &&
    step.input.message_seq === messageSeq
  );
  if (checks.some(({ state }) => state === "failed")) return REFUSED_MESSAGE;
  return checks.flatMap(({ output }) => output?.replacement ?? []).at(-1) ?? input;
}
