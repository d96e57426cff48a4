import { type ErrorBody, SwarmError } from "../../platform/errors/swarm_error.ts";
import type { Clock } from "../../platform/isolate/clock.ts";
import { nextTurn } from "../../platform/isolate/next_turn.ts";
import { beginningOf } from "../../platform/values/beginning_of.ts";
import type { JsonObject, JsonValue } from "../../platform/values/json.ts";
import type { Journal, RecordedStep, StepWrite } from "./journal.ts";
import { StepError } from "./step_errors.ts";

/** What a run of a workflow begins with. */
export interface RunContext {
  readonly taskId: string;
  readonly epoch: string;
  readonly input: JsonValue;
  readonly steps: readonly RecordedStep[];
}

/** How the runner controls a run. */
export interface RunControl {
  readonly clock: Pick<Clock, "sleep">;
  readonly now: () => Date;
  /** True when no further step may start. */
  readonly isClosing: () => boolean;
  /** Aborts what runs: the job was cancelled, or the runner must stop. */
  readonly signal: AbortSignal;
  readonly log: (message: string, facts: JsonObject) => void;
  /** In tests, what takes the place of a step's code. @default the code */
  readonly replacementOf?: (name: string) => (() => unknown) | undefined;
}

/** How a run of a workflow ended. */
export type RunEnd =
  | { readonly end: "completed"; readonly output: JsonValue }
  | { readonly end: "failed"; readonly error: ErrorBody }
  | { readonly end: "parked" | "cancelled" | "yielded" };

/** Code that a run has left never continues. */
const NEVER = new Promise<never>(() => {});
const MAX_NAME_LENGTH = 200;
/** The engine's own questions about a step, which no name of a step may begin like. */
const RERUN = /^rerun \d+: /;
/** How often, and after which pauses, code that computes between its steps is given time to reach the next one. */
const PATIENCE_MS = [0, 0, 0, 5, 20, 100, 400];
const MAX_LISTED = 5;

interface Wait {
  readonly resolve: (output: JsonObject) => void;
  readonly reject: (error: Error) => void;
}

/**
 * One run of a workflow's code, from its recorded steps to the first thing that it has to wait for.
 * Steps with a recorded end return it; others run and are recorded, several that come together in one
 * call. When nothing runs any more and steps wait, the task is parked.
 */
export class WorkflowRun {
  readonly context: RunContext;
  readonly control: RunControl;
  readonly ended: Promise<RunEnd>;
  readonly #journal: Journal;
  readonly #end = Promise.withResolvers<RunEnd>();
  readonly #recorded: Map<string, RecordedStep>;
  readonly #reached = new Set<string>();
  readonly #waits = new Map<number, Wait>();
  #lastSeq: number;
  #repeatedCount = 0;
  #runningCount = 0;
  #isOver = false;
  #writes: { readonly step: StepWrite; readonly done: PromiseWithResolvers<void> }[] = [];
  #isWriting = false;
  #isSettling = false;

  constructor(context: RunContext, journal: Journal, control: RunControl) {
    this.context = context;
    this.control = control;
    this.ended = this.#end.promise;
    this.#journal = journal;
    const ofCode = context.steps.filter(({ name }) => !RERUN.test(name));
    this.#recorded = new Map(ofCode.map((step) => [step.name, step]));
    this.#lastSeq = context.steps.at(-1)?.seq ?? 0;
    const stop = () => this.finish({ end: "yielded" });
    control.signal.addEventListener("abort", stop, { once: true });
    void this.ended.catch(() => {}).finally(() =>
      control.signal.removeEventListener("abort", stop)
    );
  }

  /** True when nothing may begin: its result would be recorded by nobody. */
  get isStopping(): boolean {
    return this.#isOver || this.control.isClosing() || this.control.signal.aborted;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** True while the code only repeats what is recorded. */
  get isRepeating(): boolean {
    return this.#repeatedCount < this.#recorded.size;
  }

  finish(end: RunEnd): void {
    this.#isOver = true;
    this.#end.resolve(end);
  }

  /** Ends the run with an error of the database, which the worker handles. */
  #abandon(error: unknown): void {
    this.#isOver = true;
    this.#end.reject(error);
  }

  /** Ends the run with an error of the workflow. */
  fail(error: unknown): void {
    if (this.#isOver) return;
    this.finish({ end: "failed", error: toErrorBody(error) });
  }

  isRecorded(name: string): boolean {
    return this.#recorded.has(name);
  }

  /**
   * Notes that the code has reached a step, and returns it if it is recorded.
   *
   * @throws STEP_INVALID, STEP_NAME_REPEATED
   */
  reach(name: string): RecordedStep | undefined {
    if (name.length === 0 || name.length > MAX_NAME_LENGTH || RERUN.test(name)) {
      throw this.#refused(
        new SwarmError(
          "STEP_INVALID",
          `Cannot run the step ${
            quoted(name)
          }: a name has 1 to ${MAX_NAME_LENGTH} characters, and does not begin like "rerun 1: "`,
        ),
      );
    }
    if (this.#reached.has(name)) {
      throw this.#refused(
        new SwarmError(
          "STEP_NAME_REPEATED",
          `Cannot run the step ${quoted(name)}: the workflow has another one of this name`,
        ),
      );
    }
    this.#reached.add(name);
    const known = this.#recorded.get(name);
    if (known !== undefined) this.#repeatedCount++;
    return known;
  }

  /** A mistake of the code ends the job, also where the code catches errors of steps. */
  #refused(error: SwarmError): SwarmError {
    this.fail(error);
    return error;
  }

  nextSeq(): number {
    return ++this.#lastSeq;
  }

  /** Does what must end, or be recorded, before the task can be parked. */
  async busy<T>(work: () => Promise<T>): Promise<T> {
    this.#runningCount++;
    try {
      return await work();
    } finally {
      this.#runningCount--;
      void this.#settle();
    }
  }

  /** Lets the task be parked during a part of what is busy. */
  async atRest<T>(wait: () => Promise<T>): Promise<T> {
    this.#runningCount--;
    try {
      return await wait();
    } finally {
      this.#runningCount++;
    }
  }

  /**
   * A step that ends when something comes from outside.
   *
   * @throws StepError
   */
  async waitFor(
    name: string,
    kind: StepWrite["kind"],
    input: () => JsonObject,
  ): Promise<JsonObject> {
    if (this.#isOver) return NEVER;
    const known = this.reach(name);
    if (known !== undefined && known.state !== "started") return outputOf(known);
    const seq = known?.seq ?? this.nextSeq();
    if (known === undefined) {
      const step = { seq, kind, name, state: "started", input: input(), output: null } as const;
      await this.busy(async () => {
        await this.assertUnchanged(name);
        await this.record(step);
      });
    }
    return await this.untilSettled(seq);
  }

  /** Waits until the recorded wait of a step ends. */
  untilSettled(seq: number): Promise<JsonObject> {
    const { promise, resolve, reject } = Promise.withResolvers<JsonObject>();
    this.#waits.set(seq, { resolve, reject });
    void this.#settle();
    return promise;
  }

  /** A question of the engine about a busy step, which belongs to the step. */
  async ask(name: string, question: string): Promise<JsonObject> {
    const known = this.context.steps.find((step) => step.name === name);
    if (known !== undefined && known.state !== "started") return outputOf(known);
    const seq = known?.seq ?? this.nextSeq();
    if (known === undefined) {
      const input = { wait: "review", question };
      await this.record({ seq, kind: "system", name, state: "started", input, output: null });
    }
    return await this.atRest(() => this.untilSettled(seq));
  }

  /** Records a step; several that come together in one call. Never returns when the run is over. */
  record(step: StepWrite): Promise<void> {
    if (this.#isOver) return NEVER;
    const done = Promise.withResolvers<void>();
    this.#writes.push({ step, done });
    void this.#write();
    return done.promise;
  }

  async #write(): Promise<void> {
    if (this.#isWriting) return;
    this.#isWriting = true;
    await Promise.resolve();
    while (this.#writes.length > 0 && !this.#isOver) {
      const batch = this.#writes.sort((a, b) => a.step.seq - b.step.seq);
      this.#writes = [];
      try {
        const isCancelled = await this.#journal.record(batch.map(({ step }) => step));
        if (isCancelled) this.finish({ end: "cancelled" });
        else for (const { done } of batch) done.resolve();
      } catch (error) {
        this.#abandon(error);
      }
    }
    this.#isWriting = false;
    void this.#settle();
  }

  /** Parks the task when nothing runs and nothing begins for two turns. */
  async #settle(): Promise<void> {
    if (this.#isSettling) return;
    this.#isSettling = true;
    await nextTurn();
    await nextTurn();
    this.#isSettling = false;
    if (this.#isOver || this.#runningCount > 0 || this.#isWriting) return;
    if (this.isStopping) return this.finish({ end: "yielded" });
    if (this.#waits.size === 0) return;
    this.#isWriting = true;
    try {
      const outcome = await this.#journal.suspend([...this.#waits.keys()]);
      if (typeof outcome === "string") return this.finish({ end: outcome });
      for (const step of outcome) this.#endWait(step);
    } catch (error) {
      return this.#abandon(error);
    } finally {
      this.#isWriting = false;
    }
    void this.#write();
  }

  #endWait(step: RecordedStep): void {
    const wait = this.#waits.get(step.seq);
    if (wait === undefined || step.state === "started") return;
    this.#waits.delete(step.seq);
    try {
      wait.resolve(outputOf(step));
    } catch (error) {
      wait.reject(error as StepError);
    }
  }

  /**
   * Before anything new begins, the code has to have reached all recorded steps.
   *
   * @param found What it comes to: a new step, or its end (null).
   * @throws WORKFLOW_CHANGED
   */
  async assertUnchanged(found: string | null): Promise<void> {
    for (const pauseMs of PATIENCE_MS) {
      if (!this.isRepeating) return;
      await (pauseMs === 0 ? nextTurn() : this.control.clock.sleep(pauseMs));
    }
    if (!this.isRepeating) return;
    const missing = [...this.#recorded.keys()].filter((name) => !this.#reached.has(name));
    const place = found === null ? "its end" : `the step ${quoted(found)}`;
    const names = missing.slice(0, MAX_LISTED).map(quoted).join(", ");
    throw this.#refused(
      new SwarmError(
        "WORKFLOW_CHANGED",
        `Cannot continue the workflow: its code comes to ${place} without ${names}, which this job has recorded`,
        { details: { missing, found } },
      ),
    );
  }
}

/** The output of an ended step. @throws StepError if it failed */
export function outputOf({ name, state, output }: RecordedStep): JsonObject {
  if (state !== "failed") return output ?? {};
  const { message = "The step failed", code = null } = (output?.error ?? {}) as {
    readonly message?: string;
    readonly code?: string | null;
  };
  throw new StepError(name, message, code);
}

/** What is recorded of an error that the code of a workflow or of a step has thrown. */
export function describeError(error: unknown): JsonObject {
  if (error instanceof SwarmError) return { code: error.code, message: error.message };
  if (!(error instanceof Error)) {
    return { name: "Error", message: beginningOf(String(error), 2_000) };
  }
  const at = /^\s*at (.*)$/m.exec(error.stack ?? "")?.[1];
  return {
    name: error.name,
    message: beginningOf(error.message, 2_000),
    ...at !== undefined && { at: beginningOf(at, 300) },
  };
}

function toErrorBody(error: unknown): ErrorBody {
  if (error instanceof SwarmError) return error.toBody();
  const { name, message, ...place } = describeError(error);
  const step = error instanceof StepError ? { step: error.step, cause: error.code } : {};
  const text = error instanceof StepError
    ? `The workflow failed: its step ${quoted(error.step)} failed: ${message}`
    : `The workflow failed: ${name}: ${message}`;
  return new SwarmError("WORKFLOW_FAILED", text, { details: { ...place, ...step } }).toBody();
}

function quoted(name: string): string {
  return JSON.stringify(beginningOf(name, MAX_NAME_LENGTH));
}
