import { StepError } from "./step_errors.ts";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import type { JsonObject, JsonValue } from "../../platform/values/json.ts";
import type { Journal, RecordedStep, StepWrite } from "./journal.ts";
import { runCode } from "./run_code.ts";
import { storedValue } from "./checked_value.ts";
import type { Workflow } from "./workflow.ts";

/** What a test gives in place of everything outside of a workflow. */
export interface WorkflowScript {
  /**
   * Results by the names of the steps: a value, or a function that returns one or throws. Steps of
   * code that are not named run their code. Subtasks (by the name of the agent), tools (`server.tool`) and
   * reviews (by their question) must be named; a review's value is `{approved, response, comments}`, and what it lacks
   * is empty.
   *
   * @default none
   */
  readonly steps?: Readonly<Record<string, unknown>>;
  /** The signals that arrive, by name, in their order. Others time out. @default none */
  readonly signals?: Readonly<Record<string, readonly unknown[]>>;
  /** @default 2030-01-01T00:00:00Z */
  readonly startsAt?: Date;
}

/** How a workflow ended in a test. */
export interface WorkflowResult<Output> {
  readonly output: Output;
  /** The names of its steps, in the order in which they began. */
  readonly steps: readonly string[];
  /** The time at its end: each wait has moved the clock. */
  readonly endedAt: Date;
}

/**
 * Runs a workflow to its end without a database, a clock or a network: sleeps and backoffs end at
 * once.
 *
 * @throws SwarmError WORKFLOW_FAILED and the other codes with which a job would fail, and STEP_INVALID
 * for a wait that the script does not end
 */
export async function runWorkflow<Input, Output>(
  workflow: Workflow<Input, Output>,
  input: Input,
  { steps = {}, signals = {}, startsAt = new Date("2030-01-01T00:00:00Z") }: WorkflowScript = {},
): Promise<WorkflowResult<Output>> {
  const names: string[] = [];
  let nowMs = startsAt.getTime();
  const journal = new ScriptedJournal(steps, signals, {
    now: () => nowMs,
    moveTo: (timeMs) => nowMs = Math.max(nowMs, timeMs),
    note: (name) => names.push(name),
  });
  const end = await runCode(workflow, {
    taskId: "00000000-0000-7000-8000-000000000000",
    epoch: "1",
    input: storedValue(input, { code: "TASK_INPUT_INVALID", attempt: "start the workflow" }),
    steps: [],
  }, {
    journal,
    host: {
      signalUrl: (_, signal) => Promise.resolve(`https://example.com/signals/${signal}`),
      callTool: (_, { server, tool }) => {
        throw new SwarmError("STEP_INVALID", `Cannot call ${server}.${tool}: it is not scripted`, {
          hint: "Give its result in `steps`.",
        });
      },
    },
    control: {
      clock: {
        // Of a timeout, which code in a test does not reach.
        sleep: (durationMs, signal) =>
          signal === undefined ? Promise.resolve() : untilAborted(durationMs, signal),
      },
      now: () => new Date(nowMs),
      isClosing: () => false,
      signal: new AbortController().signal,
      log: () => {},
      replacementOf: (name) => Object.hasOwn(steps, name) ? () => valueOf(steps[name]) : undefined,
    },
  });
  if (end.end === "completed") {
    return { output: end.output as Output, steps: names, endedAt: new Date(nowMs) };
  }
  if (end.end !== "failed") throw new TypeError(`The workflow was ${end.end}`);
  const { code, message, hint, details } = end.error;
  throw new SwarmError(code, message, {
    ...hint !== undefined && { hint },
    ...details !== undefined && { details },
  });
}

function untilAborted(durationMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, durationMs);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

function valueOf(scripted: unknown): unknown {
  return typeof scripted === "function" ? scripted() : scripted;
}

/** The clock of a test. */
interface ScriptedClock {
  readonly now: () => number;
  readonly moveTo: (timeMs: number) => void;
  readonly note: (name: string) => void;
}

/** Ends each wait as the script says. */
class ScriptedJournal implements Journal {
  readonly #steps: Readonly<Record<string, unknown>>;
  readonly #signals: ReadonlyMap<string, unknown[]>;
  readonly #clock: ScriptedClock;
  readonly #recorded = new Map<number, StepWrite>();

  constructor(
    steps: Readonly<Record<string, unknown>>,
    signals: Readonly<Record<string, readonly unknown[]>>,
    clock: ScriptedClock,
  ) {
    this.#steps = steps;
    this.#signals = new Map(Object.entries(signals).map(([name, values]) => [name, [...values]]));
    this.#clock = clock;
  }

  record(steps: readonly StepWrite[]): Promise<boolean> {
    for (const step of steps) {
      if (!this.#recorded.has(step.seq)) this.#clock.note(step.name);
      this.#recorded.set(step.seq, step);
    }
    return Promise.resolve(false);
  }

  async suspend(waiting: readonly number[]): Promise<readonly RecordedStep[]> {
    const steps = waiting.flatMap((seq) => this.#recorded.get(seq) ?? []);
    const ended: RecordedStep[] = [];
    for (const step of steps) {
      const end = await this.#endOf(step);
      if (end !== null) ended.push({ ...step, ...end, epoch: "1" });
    }
    if (ended.length > 0) return ended;
    const [next] = steps.filter(({ input }) => input?.until !== undefined)
      .sort((a, b) => timeOf(a) - timeOf(b));
    if (next !== undefined) {
      this.#clock.moveTo(timeOf(next));
      return [{ ...next, state: "done", output: { value: null }, epoch: "1" }];
    }
    const [step] = steps;
    throw new SwarmError(
      "STEP_INVALID",
      `Cannot run the workflow to its end: it waits for ${
        JSON.stringify(step?.name)
      } (${step?.input?.wait}), which the script does not name`,
      { hint: "Give the result in `steps`, or the signal in `signals`." },
    );
  }

  /** Null for a wait that only time ends. */
  async #endOf(
    { name, input }: StepWrite,
  ): Promise<Pick<RecordedStep, "state" | "output"> | null> {
    if (input?.wait === "signal") {
      const queue = this.#signals.get(String(input.signal)) ?? [];
      return queue.length === 0 ? null : done({ value: toJson(queue.shift()) });
    }
    const isScripted = input?.wait === "child" || input?.wait === "review";
    if (!isScripted || !Object.hasOwn(this.#steps, name)) return null;
    try {
      const value = toJson(await valueOf(this.#steps[name]));
      if (input?.wait === "child") return done({ output: value });
      return done({ approved: true, response: {}, comments: null, ...value as JsonObject });
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      const code = error instanceof StepError ? error.code : null;
      return { state: "failed", output: { error: { code, message } } };
    }
  }
}

function done(output: JsonObject): Pick<RecordedStep, "state" | "output"> {
  return { state: "done", output };
}

function timeOf({ input }: StepWrite): number {
  return Date.parse(String(input?.until));
}

function toJson(value: unknown): JsonValue {
  return storedValue(value, { code: "STEP_INVALID", attempt: "read the script" });
}
