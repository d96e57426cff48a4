import type { ToolCall } from "../agent/planned_call.ts";
import type { TaskContext } from "../agent/task_context.ts";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import type { TraceHeaders } from "../../platform/http/trace_context.ts";
import { asJsonObject } from "../../platform/values/json.ts";
import type { ToolCallOutcome } from "../../gateway/tool_contracts/tool_call.ts";
import {
  answerAttributes,
  modelAttributes,
  modelSpanName,
  outcomeAttributes,
  outcomeError,
  runAttributes,
  toolAttributes,
} from "./gen_ai_attributes.ts";
import {
  nowUnixMs,
  type Span,
  type SpanAttributes,
  type SpanContext,
} from "../../platform/telemetry/span.ts";
import {
  parseTraceparent,
  spanIdOf,
  toTraceparent,
} from "../../platform/telemetry/span_context.ts";
import type {
  TaskTrace,
  TracedModelAnswer,
  TracedModelCall,
  TracedSpawn,
  TracedSubtask,
} from "./task_trace.ts";

/** The inputs of a recorded run. */
export interface RecordedTaskTraceOptions {
  /** The task as it was claimed. */
  readonly context: TaskContext;
  /** The epoch of this run's claim; the next run has another. */
  readonly epoch: string;
  readonly add: (span: Span) => void;
}

type EndedSpan = Pick<Span, "name" | "kind" | "startMs" | "attributes" | "errorCode">;

/**
 * A run with its own span and a child span for every model call, tool call and new subtask.
 *
 * Ids are derived from task, step and epoch, so the parent id that a worker passes to a tool or a
 * subtask is the one that it exports later, and a dead worker only loses the span of its own run.
 */
export class RecordedTaskTrace implements TaskTrace {
  readonly #options: RecordedTaskTraceOptions;
  readonly #startMs = nowUnixMs();
  readonly #runSpanId: Promise<string>;
  #errorCode: string | null = null;

  constructor(options: RecordedTaskTraceOptions) {
    this.#options = options;
    this.#runSpanId = spanIdOf("run", options.context.task.id, options.epoch);
  }

  async modelCall<T extends TracedModelAnswer>(
    call: TracedModelCall,
    work: () => Promise<T>,
  ): Promise<T> {
    return await this.#step({
      seq: call.seq,
      name: modelSpanName(call),
      attributes: modelAttributes(call),
      work,
      describe: (answer) => ({ attributes: answerAttributes(answer), errorCode: null }),
    });
  }

  async toolCall<T extends ToolCallOutcome | SwarmError>(
    call: ToolCall,
    work: (headers: TraceHeaders) => Promise<T>,
  ): Promise<T> {
    return await this.#step({
      seq: call.intent.seq,
      name: `execute_tool ${call.tool.toolName}`,
      attributes: toolAttributes(call),
      work: (context) =>
        work({ traceparent: toTraceparent(context), tracestate: context.tracestate }),
      describe: (outcome) => ({
        attributes: outcomeAttributes(outcome),
        errorCode: outcomeError(outcome),
      }),
    });
  }

  async spawn<S extends { readonly seq: number }, T extends TracedSpawn>(
    subtasks: readonly S[],
    work: (subtasks: readonly (S & TracedSubtask)[]) => Promise<readonly T[]>,
  ): Promise<readonly T[]> {
    const startMs = nowUnixMs();
    const contexts = await Promise.all(subtasks.map(({ seq }) => this.#spawnContext(seq)));
    const outcomes = await work(subtasks.map((subtask, index) => {
      const context = contexts[index];
      return context === undefined ? subtask : { ...subtask, traceparent: toTraceparent(context) };
    }));
    for (const [index, { seq }] of subtasks.entries()) {
      const context = contexts[index];
      const error = outcomes.find((outcome) => outcome.seq === seq)?.error ?? null;
      if (context === undefined || this.#wasBegun(seq)) continue;
      await this.#exportSpawn(context, { seq, startMs, error });
    }
    return outcomes;
  }

  noteError(code: string): void {
    this.#errorCode = code;
  }

  async end(end: string): Promise<void> {
    const { context: { task, agent }, epoch, add } = this.#options;
    await this.#exportLostSpawns();
    const isFailure = end === "failed" || end === "retried";
    add({
      context: this.#contextOf(await this.#runSpanId),
      parentSpanId: await this.#parentSpanId(),
      name: `invoke_agent ${task.agent_slug ?? "unknown"}`,
      kind: "internal",
      startMs: this.#startMs,
      endMs: nowUnixMs(),
      attributes: { ...runAttributes(task, agent, epoch), "supaswarm.run.end": end },
      errorCode: isFailure ? this.#errorCode ?? "INTERNAL" : null,
    });
  }

  async #step<T>(step: {
    readonly seq: number;
    readonly name: string;
    readonly attributes: SpanAttributes;
    readonly work: (context: SpanContext) => Promise<T>;
    readonly describe: (result: T) => Pick<Span, "attributes" | "errorCode">;
  }): Promise<T> {
    const { context: { task }, epoch } = this.#options;
    const context = this.#contextOf(await spanIdOf("step", task.id, step.seq, epoch));
    const span = { name: step.name, kind: "client" as const, startMs: nowUnixMs() };
    const own = { ...step.attributes, "supaswarm.step_seq": step.seq };
    let result: T;
    try {
      result = await step.work(context);
    } catch (error) {
      await this.#export(context, { ...span, attributes: own, errorCode: errorCodeOf(error) });
      throw error;
    }
    const { attributes, errorCode } = step.describe(result);
    await this.#export(context, { ...span, attributes: { ...own, ...attributes }, errorCode });
    return result;
  }

  async #exportSpawn(
    context: SpanContext,
    { seq, startMs, error }: TracedSpawn & { readonly startMs: number },
  ): Promise<void> {
    const { code } = asJsonObject(error);
    await this.#export(context, {
      name: "execute_tool create_subtask",
      kind: "internal",
      startMs,
      attributes: {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "create_subtask",
        "supaswarm.step_seq": seq,
      },
      errorCode: typeof code === "string" ? code : null,
    });
  }

  async #export(context: SpanContext, span: EndedSpan): Promise<void> {
    const { context: { task }, add } = this.#options;
    add({
      ...span,
      context,
      parentSpanId: await this.#runSpanId,
      endMs: nowUnixMs(),
      attributes: { ...span.attributes, "supaswarm.task_id": task.id },
    });
  }

  /**
   * Without the epoch: creating a subtask again finds the existing one, so a worker that continues
   * after the first one died exports the parent that the subtask already has.
   */
  async #spawnContext(seq: number): Promise<SpanContext> {
    return this.#contextOf(await spanIdOf("spawn", this.#options.context.task.id, seq));
  }

  /** The step existed when the task was claimed: an earlier run created it or started to. */
  #wasBegun(seq: number): boolean {
    return this.#options.context.steps.some((step) => step.seq === seq);
  }

  /**
   * Subtasks created by a worker that died before it exported them. They may have ended since, so
   * this run may not have handled them.
   */
  async #exportLostSpawns(): Promise<void> {
    const { task, steps } = this.#options.context;
    if (task.deliveries <= 1) return;
    const turn = steps.slice(steps.findLastIndex(({ kind }) => kind === "model") + 1);
    for (const step of turn) {
      if (step.kind !== "system" || step.name !== "create_subtask") continue;
      const lost = { seq: step.seq, startMs: this.#startMs, error: null };
      await this.#exportSpawn(await this.#spawnContext(step.seq), lost);
    }
  }

  /** A task that was created outside of a trace has its own, with the job's id. */
  #contextOf(spanId: string): SpanContext {
    const { traceparent, tracestate, master_task_id } = this.#options.context.task;
    const created = parseTraceparent(traceparent, tracestate);
    if (created !== null) return { ...created, spanId };
    return { traceId: master_task_id.replaceAll("-", ""), spanId, flags: 1, tracestate: null };
  }

  /** The creator of the task; without one, its first run is the root of the others. */
  async #parentSpanId(): Promise<string | null> {
    const { context: { task, first_epoch: first }, epoch } = this.#options;
    const created = parseTraceparent(task.traceparent, null);
    if (created !== null) return created.spanId;
    return first === null || first === epoch ? null : await spanIdOf("run", task.id, first);
  }
}

function errorCodeOf(error: unknown): string {
  if (error instanceof SwarmError) return error.code;
  return error instanceof Error ? error.name : "_OTHER";
}
