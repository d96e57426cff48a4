import type { GuardrailCheck } from "../agent/guardrails.ts";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import { RESULT_LIMITS } from "../../platform/json/json_limits.ts";
import { parseJsonOrUndefined } from "../../platform/json/parse_json.ts";
import { jsonValue } from "../../platform/values/json_schema.ts";
import { z } from "../../vendor/zod.js";
import type { AnsweredCall } from "../../gateway/tool_contracts/tool_call.ts";
import { callerOf, type TaskRun } from "./task_run.ts";
import type { StepRecord } from "./task_store.ts";

/** The answer of a guardrail. */
const answerSchema = z.object({
  allowed: z.boolean(),
  reason: z.string().nullish(),
  /** Replaces the checked value. */
  replacement: jsonValue.nullish(),
});

/**
 * Runs checks in parallel through the gateway. A check has no side effects, so one with a lost
 * answer is repeated.
 *
 * @returns The ended steps, which are not yet written.
 * @throws GUARDRAIL_FAILED if a guardrail returns no readable answer; errors of the gateway throws.
 */
export async function runChecks(
  checks: readonly GuardrailCheck[],
  run: TaskRun,
): Promise<readonly StepRecord[]> {
  return await Promise.all(checks.map((check) => runCheck(check, run)));
}

/** True if a check allows its input unchanged. */
export function isPlainPass({ state, output }: StepRecord): boolean {
  return state === "done" && output.replacement === undefined;
}

async function runCheck(check: GuardrailCheck, run: TaskRun): Promise<StepRecord> {
  const { lease, context, ports: { gateway }, control: { signal } } = run;
  const { intent, server, toolName } = check;
  const { traceparent, tracestate } = context.task;
  const outcome = await gateway.call({
    server,
    toolName,
    arguments: check.arguments,
    caller: { ...callerOf(context), isGuardrail: true },
    stepSeq: intent.seq,
    attempt: 1,
    idempotencyKey: `${lease.taskId}:${intent.seq}`,
    traceparent,
    tracestate,
  }, signal);
  if (outcome.kind !== "answered") throw failed(check, "it did not respond");
  if (outcome.isError) throw failed(check, outcome.text);
  run.transcript.hide(outcome.unrecordedValues ?? []);
  const answer = readAnswer(outcome);
  if (answer === undefined) throw failed(check, "its answer is not {allowed, reason, replacement}");
  const { allowed, reason, replacement } = answer;
  const output = {
    text: reason ?? (allowed ? "allowed" : ""),
    allowed,
    ...(replacement === undefined || replacement === null ? {} : { replacement }),
    execution_id: outcome.executionId,
  };
  if (allowed) return { ...intent, state: "done", output };
  return { ...intent, state: "failed", output: { ...output, error_code: "GUARDRAIL_REFUSED" } };
}

/** Database functions return a value or rows, APIs a text. */
function readAnswer({ structured, text }: AnsweredCall): z.infer<typeof answerSchema> | undefined {
  const given: readonly unknown[] = [structured, parseJsonOrUndefined(text, RESULT_LIMITS)];
  const candidates = given.flatMap((value) => [value, innerOf(value)]);
  return candidates.map((value) => answerSchema.safeParse(value).data)
    .find((answer) => answer !== undefined);
}

/** The only row of a list, or the member `result`. */
function innerOf(value: unknown): unknown {
  if (Array.isArray(value)) return value[0];
  if (typeof value !== "object" || value === null || !("result" in value)) return undefined;
  return Array.isArray(value.result) ? value.result[0] : value.result;
}

function failed({ server, toolName, intent }: GuardrailCheck, reason: string): SwarmError {
  const stage = intent.input?.stage === "input" ? "input" : "result";
  const message = `Cannot check the ${stage} of the task: the guardrail '${toolName}' of ` +
    `'${server}' failed: ${reason.slice(0, 500)}`;
  return new SwarmError("GUARDRAIL_FAILED", message, {
    hint: "The task is retried; correct the guardrail's tool if this continues.",
  });
}
