import type { JsonObject, JsonValue } from "../../platform/values/json.ts";

/** A time to wait: seconds, or a text such as `"90 s"`, `"15 minutes"`, `"3 days"`, `"2 weeks"`. */
export type Duration = number | string;

/** A schema of zod 4, or of another library with the interface Standard Schema. */
export interface StandardSchema<T> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => unknown;
    readonly types?: { readonly input: unknown; readonly output: T } | undefined;
  };
}

/** What values are: a schema of a library, or a JSON Schema. */
export type Schema<T = unknown> = StandardSchema<T> | JsonObject;

/** The type of a schema's values; `JsonValue` for a JSON Schema. */
export type ValueOf<S> = S extends StandardSchema<infer T> ? T : JsonValue;

/** What the code of a step may read. */
export interface StepAttempt {
  /** 1 for the first. */
  readonly attempt: number;
  /** Aborts at the step's timeout, when the job is cancelled, and when the runner must stop. */
  readonly signal: AbortSignal;
  /** The same in each attempt, for APIs that recognize a repeated request. */
  readonly idempotencyKey: string;
}

/** Options of a step. */
export interface StepOptions<T = unknown> {
  /**
   * Whether it may run again when it is not known whether it took effect: the runner died during it,
   * or it timed out. If not, a person is asked.
   *
   * @default true
   */
  readonly idempotent?: boolean;
  /** Attempts in all. @default 3, and 1 for a step that is not idempotent */
  readonly attempts?: number;
  /** Time before the second attempt, doubled for each further one, at most an hour. @default 1 */
  readonly backoff?: Duration;
  /** Time of one attempt. @default no limit but that of the runner */
  readonly timeout?: Duration;
  /** What the result must be. @default any JSON */
  readonly schema?: Schema<T>;
}

/** The answer of a person. */
export interface ReviewAnswer {
  readonly approved: boolean;
  readonly response: JsonObject;
  readonly comments: string | null;
}

/** What a tool answered. */
export type FlowToolResult = JsonObject;

/** Options of a wait. */
export interface WaitOptions {
  /** The step's name. @default what it waits for */
  readonly name?: string;
}

/** Options of a tool call. */
export type ToolOptions = WaitOptions & Omit<StepOptions<FlowToolResult>, "schema">;

/**
 * What a workflow's code does that is recorded. Each step has a name that is unique in the job, and a
 * result that never changes. All other code runs again from the start whenever the workflow goes on,
 * so it must come to the same steps each time: read clocks, random numbers and data within steps.
 */
export interface Flow {
  readonly taskId: string;

  /**
   * Runs code until it succeeds once, and returns its recorded result from then on.
   *
   * @throws StepError after the last attempt, or at the first `NonRetryableError`
   */
  step<T>(
    name: string,
    run: (attempt: StepAttempt) => T | Promise<T>,
    options?: StepOptions<T>,
  ): Promise<T>;

  /** Runs steps for each item. Names in `run` are unique for the item. @param options limit: items at a time, 10 by default */
  map<Item, T>(
    name: string,
    items: readonly Item[],
    run: (item: Item, flow: Flow, index: number) => T | Promise<T>,
    options?: { readonly limit?: number },
  ): Promise<T[]>;

  sleep(name: string, duration: Duration): Promise<void>;

  /** @param time A date, or a text in ISO 8601. */
  sleepUntil(name: string, time: Date | string): Promise<void>;

  /**
   * Starts a subtask for an agent and waits for its output.
   *
   * @throws StepError if it fails, or the agent may not be used
   */
  agent<T = JsonValue>(agent: string, input: unknown, options?: WaitOptions): Promise<T>;

  /** Starts a subtask for another workflow and waits for its output. @throws StepError if it fails */
  workflow<Input, Output>(
    workflow: Workflow<Input, Output>,
    input: Input,
    options?: WaitOptions,
  ): Promise<Output>;

  /**
   * Calls a tool through the gateway, with the rights and limits of the job's owner, and returns
   * `{content, structuredContent}`. It is not idempotent unless the options say so.
   *
   * @throws StepError with the gateway's code if it refuses the call or the tool fails
   */
  tool(
    server: string,
    tool: string,
    parameters: JsonObject,
    options?: ToolOptions,
  ): Promise<FlowToolResult>;

  /** Asks a person. Several questions may be open. @param options options: answers to choose from */
  review(
    question: string,
    context?: unknown,
    options?: WaitOptions & { readonly options?: readonly string[] },
  ): Promise<ReviewAnswer>;

  /** The next signal of this name, which may have arrived already. Null after the timeout. */
  signal<T = JsonValue>(
    signal: string,
    options?: WaitOptions & { readonly timeout?: Duration },
  ): Promise<T | null>;

  /** An address to which a system outside sends one signal of this name: `POST` with JSON. */
  signalUrl(signal: string, options?: WaitOptions): Promise<string>;

  /** The first of several waits to end; which one it was is recorded. */
  race<T>(name: string, waits: readonly Promise<T>[]): Promise<T>;

  /**
   * Whether this job began with code that had this change, or had not yet come to it. Ask where no
   * other steps run at the same time.
   */
  patched(change: string): Promise<boolean>;

  /** Writes a line to the function's log, once although the code runs again. */
  log(message: string, facts?: JsonObject): void;
}

/** A workflow: a name, code, and what its input and result are. */
export interface Workflow<Input = JsonValue, Output = JsonValue> {
  readonly name: string;
  readonly description?: string;
  readonly input?: Schema<Input>;
  readonly output?: Schema<Output>;
  readonly run: (flow: Flow, input: Input) => Promise<Output>;
}

/** Options of a workflow. */
export interface WorkflowOptions<Input, Output> {
  /** What agents read about it that may call it. */
  readonly description?: string;
  /** What its input must be. @default any object or text */
  readonly input?: Schema<Input>;
  /** What its result must be. @default any JSON */
  readonly output?: Schema<Output>;
}

const NAME = /^[a-z0-9][a-z0-9_-]{0,62}$/;

/**
 * Defines a workflow.
 *
 * @param name Lower-case letters, digits, `_` and `-`; jobs name it as they name an agent.
 * @throws TypeError if the name is invalid
 */
export function defineWorkflow<Input = JsonValue, Output = JsonValue>(
  name: string,
  run: (flow: Flow, input: Input) => Promise<Output>,
  options: WorkflowOptions<Input, Output> = {},
): Workflow<Input, Output> {
  if (!NAME.test(name)) {
    throw new TypeError(
      `Cannot define the workflow "${name}": a name has 1 to 63 lower-case letters, digits, "_" and "-"`,
    );
  }
  return { name, run, ...options };
}

/** A workflow of any input and result. */
// deno-lint-ignore no-explicit-any -- A parameter of unknown type would accept no workflow.
export type AnyWorkflow = Workflow<any, any>;
