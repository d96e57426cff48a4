import { SwarmError } from "../../platform/errors/swarm_error.ts";
import type { JsonObject, JsonValue } from "../../platform/values/json.ts";
import { checkedValue, storedValue } from "./checked_value.ts";
import type { RecordedStep } from "./journal.ts";
import { secondsOf } from "./seconds_of.ts";
import { NonRetryableError, StepError } from "./step_errors.ts";
import { describeError, outputOf, type WorkflowRun } from "./workflow_run.ts";
import type { StepAttempt, StepOptions } from "./workflow.ts";

/** Code that a run has left never continues. */
const NEVER = new Promise<never>(() => {});
/** The run ends before the step does. */
const STOPPED = Symbol("stopped");
const LONGEST_BACKOFF_SECONDS = 3_600;
/** A longer pause frees the runner's slot. */
const LONGEST_PAUSE_IN_PLACE_SECONDS = 2;

/** A step whose code runs. */
interface Attempted<T> {
  readonly name: string;
  readonly code: (attempt: StepAttempt) => T | Promise<T>;
  readonly options: StepOptions<T>;
  readonly seq: number;
  readonly known: RecordedStep | undefined;
}

/** Runs a step unless its end is recorded. @throws StepError */
export async function runStep<T>(
  run: WorkflowRun,
  name: string,
  code: (attempt: StepAttempt) => T | Promise<T>,
  options: StepOptions<T>,
): Promise<T> {
  if (run.isOver) return NEVER;
  const known = run.reach(name);
  if (known !== undefined && known.state !== "started") return outputOf(known).value as T;
  const outcome = await run.busy(async () => {
    await run.assertUnchanged(name);
    if (run.isStopping) return STOPPED;
    return await attempts(run, { name, code, options, seq: known?.seq ?? run.nextSeq(), known });
  });
  return outcome === STOPPED ? NEVER : outcome;
}

async function attempts<T>(run: WorkflowRun, step: Attempted<T>): Promise<T | typeof STOPPED> {
  const { name, seq, known, options: { idempotent = true, backoff = 1 } } = step;
  const attemptCount = step.options.attempts ?? (idempotent ? 3 : 1);
  const base = { seq, kind: "step", name } as const;
  let failures = Number(known?.input?.failures ?? 0);
  let begun = Number(known?.input?.begun ?? 0);
  if (String(known?.input?.until ?? "") > run.control.now().toISOString()) {
    // Something else has woken the workflow.
    await run.atRest(() => run.untilSettled(seq));
  }
  if (known?.input?.is_sent === true && known.epoch !== run.context.epoch) {
    await assertMayRunAgain(run, step, begun);
  }
  while (true) {
    if (run.isStopping) return STOPPED;
    if (!idempotent) {
      const input = { failures, begun: ++begun, is_sent: true };
      await run.record({ ...base, state: "started", input, output: null });
    }
    const startedAt = run.control.now().toISOString();
    try {
      const value = await attemptOnce(run, step, failures + 1);
      await run.record({
        ...base,
        state: "done",
        input: null,
        output: { value },
        started_at: startedAt,
      });
      return value as T;
    } catch (error) {
      if (run.isOver) return STOPPED;
      if (!idempotent && isUnknown(error)) {
        await assertMayRunAgain(run, step, begun);
        continue;
      }
      failures++;
      if (error instanceof NonRetryableError || isRefused(error) || failures >= attemptCount) {
        throw await failed(run, step, describeError(error), { failures, begun }, startedAt);
      }
      await pause(run, step, failures, begun, secondsOf(backoff), describeError(error));
    }
  }
}

/** Whether it is not known whether the step took effect. */
function isUnknown(error: unknown): boolean {
  return error instanceof SwarmError &&
    (error.code === "STEP_TIMED_OUT" || error.code === "TOOL_OUTCOME_UNKNOWN");
}

/** A wrong result stays wrong. */
function isRefused(error: unknown): boolean {
  return error instanceof SwarmError && error.code === "STEP_RESULT_INVALID";
}

/** @throws STEP_TIMED_OUT, STEP_RESULT_INVALID, and what the code throws */
async function attemptOnce<T>(
  run: WorkflowRun,
  { name, code, seq, options: { timeout, schema } }: Attempted<T>,
  attempt: number,
): Promise<JsonValue> {
  const timer = new AbortController();
  const signal = AbortSignal.any([run.control.signal, timer.signal]);
  const call = run.control.replacementOf?.(name) ??
    (() => code({ attempt, signal, idempotencyKey: `${run.context.taskId}:${seq}` }));
  const ends = [(async () => await call())()];
  if (timeout !== undefined) ends.push(timeOut(run, name, secondsOf(timeout), timer));
  const value = await Promise.race(ends).finally(() => timer.abort());
  const error = { code: "STEP_RESULT_INVALID", attempt: `record the step "${name}"` } as const;
  const stored = storedValue(value, error);
  return storedValue(await checkedValue(schema, stored, error), error);
}

async function timeOut(
  run: WorkflowRun,
  name: string,
  seconds: number,
  timer: AbortController,
): Promise<never> {
  await run.control.clock.sleep(seconds * 1_000, timer.signal);
  if (timer.signal.aborted) return NEVER;
  timer.abort();
  throw new SwarmError(
    "STEP_TIMED_OUT",
    `Cannot finish the step "${name}": it took longer than its timeout of ${seconds} s`,
  );
}

/** Asks a person about a step that may have taken effect. @throws StepError if they say no */
async function assertMayRunAgain<T>(
  run: WorkflowRun,
  step: Attempted<T>,
  begun: number,
): Promise<void> {
  const { approved } = await run.ask(
    `rerun ${begun}: ${step.name}`,
    `It is not known whether the step "${step.name}" took effect. Run it again?`,
  );
  if (approved === true) return;
  const error = {
    code: "STEP_OUTCOME_UNKNOWN",
    message: "It is not known whether it took effect, and a person did not let it run again",
  };
  throw await failed(run, step, error, { begun }, run.control.now().toISOString());
}

async function failed<T>(
  run: WorkflowRun,
  { name, seq }: Attempted<T>,
  error: JsonObject,
  input: JsonObject,
  startedAt: string,
): Promise<StepError> {
  const step = { seq, kind: "step", name, state: "failed", input, output: { error } } as const;
  await run.record({ ...step, started_at: startedAt });
  const { message, code = null } = error;
  return new StepError(name, String(message), code === null ? null : String(code));
}

/** Waits before the next attempt: in place, or parked. */
async function pause<T>(
  run: WorkflowRun,
  { name, seq }: Attempted<T>,
  failures: number,
  begun: number,
  backoffSeconds: number,
  error: JsonObject,
): Promise<void> {
  const seconds = Math.min(LONGEST_BACKOFF_SECONDS, backoffSeconds * 2 ** (failures - 1));
  const isShort = seconds <= LONGEST_PAUSE_IN_PLACE_SECONDS;
  const until = new Date(run.control.now().getTime() + seconds * 1_000).toISOString();
  const input = { failures, begun, error, ...!isShort && { wait: "retry", until } };
  await run.record({ seq, kind: "step", name, state: "started", input, output: null });
  if (isShort) return await run.control.clock.sleep(seconds * 1_000, run.control.signal);
  await run.atRest(() => run.untilSettled(seq));
}
