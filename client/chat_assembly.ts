import type { ChatMetadata, ChatPart } from "./chat_part.ts";
import type { JobEvent, RequestedCall } from "./job_event.ts";
import {
  type AnswerText,
  answerText,
  FINAL_TOOL,
  TextAssembly,
  type TextDelta,
} from "./job_text.ts";
import { reviewId } from "./review_id.ts";

/** The message that is assembled. */
export interface AssembledMessage extends ChatMetadata {
  /** Whether the reader understands `reset-step`, which no released AI SDK does yet. @default false */
  readonly canReset?: boolean;
}

/** The id of the message that answers the user's message of this step. */
export function answerId({ job_id, step }: ChatMetadata): string {
  return `${job_id}-${step}`;
}

/**
 * Turns the events of a job, from a message of its user on, into the parts of the answer. The same
 * events give the same parts, so a reader that begins again gets the same message.
 */
export class ChatAssembly {
  readonly #message: AssembledMessage;
  readonly #texts = new TextAssembly();
  /** The status of each task since the user's message. */
  readonly #statuses = new Map<string, string>();
  readonly #agents = new Map<string, string>();
  /** The id of the call that each step runs. */
  readonly #callOfStep = new Map<number, string>();
  readonly #callIds = new Set<string>();
  readonly #requestedReviews = new Set<string>();
  #openStep: number | null = null;
  /** Guardrails check the input in steps between a model's answer and its calls. */
  #guardrailCount = 0;
  #text: { readonly id: string; shown: string } | null = null;
  #textCount = 0;
  /** The text that the open step continues. */
  #before = "";
  /** What is known of an answer that was cut. */
  #partial = "";
  #lastText = "";
  /** The last answer was cut at the output limit. */
  #isCut = false;
  /** The answer whose output the task has not accepted yet, so that its text may still be replaced. */
  #proposed: AnswerText | null = null;
  #hasEnded = false;

  constructor(message: AssembledMessage) {
    this.#message = message;
  }

  /** Nothing follows. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Every task waits, directly or not, for a person. */
  get waitsForPerson(): boolean {
    const statuses = [...this.#statuses.values()];
    return statuses.includes("needs_human_review") &&
      !statuses.some((status) => status === "running" || status === "pending");
  }

  /** The ids of the reviews that were requested so far. */
  get requestedReviews(): ReadonlySet<string> {
    return this.#requestedReviews;
  }

  /** The part before all others. */
  start(): ChatPart {
    const { job_id, step } = this.#message;
    return {
      type: "start",
      messageId: answerId(this.#message),
      messageMetadata: { job_id, step },
    };
  }

  /** Takes streamed text of the job's own model calls. */
  add(delta: TextDelta): ChatPart[] {
    // Pieces of an earlier answer may still arrive.
    return this.#hasEnded || delta.step <= this.#message.step
      ? []
      : this.#texts.add(delta).flatMap(({ step, text }) => this.#show(step, text.trim()));
  }

  /** Takes an event of the job or of one of its subtasks. */
  note(event: JobEvent): ChatPart[] {
    if (this.#hasEnded) return [];
    const isOwn = event.task_id === this.#message.job_id;
    return [
      ...this.#noteReview(event),
      ...(isOwn ? this.#noteOwn(event) : this.#noteSubtask(event)),
    ];
  }

  /** Takes a whole answer, of which nothing but its text is known. */
  whole(text: string | null): ChatPart[] {
    return [
      ...text === null ? [] : this.#showOutput(text),
      ...this.#end({ type: "finish", finishReason: "stop" }),
    ];
  }

  /** Ends an answer that goes on when a person has answered. */
  pause(): ChatPart[] {
    return this.#end({ type: "finish", finishReason: "tool-calls" });
  }

  #noteOwn(event: JobEvent): ChatPart[] {
    const { type, data } = event;
    switch (type) {
      case "task.resumed":
        if (data.reason === "continued" && data.step_seq !== this.#message.step) {
          return this.#end({ type: "finish", finishReason: "stop" });
        }
        return this.#setStatus(event.task_id, "running");
      case "task.created":
      case "task.started":
      case "task.retried":
        return this.#setStatus(event.task_id, "running");
      case "task.parked":
        return this.#setStatus(event.task_id, data.status);
      case "task.completed":
        return [
          ...this.#showOutput(data.output),
          ...this.#end({ type: "finish", finishReason: this.#isCut ? "length" : "stop" }),
        ];
      case "task.failed":
        return this.#end({ type: "error", errorText: data.error.message });
      case "task.cancelled":
        return this.#end({ type: "abort", reason: data.error?.message ?? "The job was cancelled" });
      case "model.started":
        return [
          ...(data.summarizes_through === undefined ? this.#openModelStep(data) : []),
          ...this.#texts.note(event).flatMap(({ step, text }) => this.#show(step, text.trim())),
        ];
      case "model.interrupted":
        if (data.text === undefined || data.step_seq !== this.#openStep) return [];
        this.#partial = this.#before + data.text;
        return [{
          type: "data-partial",
          data: { step: data.step_seq, text: this.#partial },
          transient: true,
        }];
      case "model.completed":
        return data.summarizes_through === undefined ? this.#noteAnswer(event) : [];
      case "tool.started":
        if (data.guardrail === "input") this.#guardrailCount++;
        if (data.guardrail !== undefined || this.#callOfStep.has(data.step_seq)) return [];
        return this.#startCall(data.step_seq, {
          call_id: data.call_id ?? `step-${data.step_seq}`,
          name: data.name,
          arguments: data.arguments ?? {},
        });
      case "tool.completed": {
        const id = this.#callIdOf(data.step_seq);
        if (id === undefined || data.guardrail !== undefined) return [];
        const files = (data.files ?? []).map((file): ChatPart => ({
          type: "file",
          url: `/storage/v1/object/authenticated/supaswarm-data/${file.path}`,
          mediaType: file.media_type,
          providerMetadata: { supaswarm: { path: file.path } },
        }));
        return [output(id, data.text ?? ""), ...files];
      }
      case "tool.failed": {
        const id = this.#callIdOf(data.step_seq);
        if (id === undefined || data.guardrail !== undefined) return [];
        const errorText = data.text ?? data.error_code ?? "The call failed";
        return [{ type: "tool-output-error", toolCallId: id, errorText, dynamic: true }];
      }
      case "skill.loaded":
        return this.#outputOf(data.step_seq, { skill_id: data.skill_id });
      case "data.saved":
        return this.#outputOf(data.step_seq, { key: data.key });
      case "subtask.created":
        this.#agents.set(data.subtask_id, data.agent);
        return [
          ...this.#outputOf(data.step_seq, { subtask_id: data.subtask_id, agent: data.agent }),
          ...this.#setStatus(data.subtask_id, "pending"),
        ];
      case "subtask.finished":
        return [
          ...this.#outputOf(data.step_seq, {
            subtask_id: data.subtask_id,
            agent: data.agent,
            status: data.status,
          }),
          ...this.#setStatus(data.subtask_id, data.status),
        ];
      default:
        return [];
    }
  }

  #noteSubtask({ type, task_id: id, data }: JobEvent): ChatPart[] {
    switch (type) {
      case "task.created":
        this.#agents.set(id, data.agent);
        return this.#setStatus(id, "pending");
      case "task.started":
      case "task.resumed":
        return this.#setStatus(id, "running");
      case "task.parked":
        return this.#setStatus(id, data.status);
      case "task.retried":
        return this.#setStatus(id, "pending");
      case "task.completed":
        return this.#setStatus(id, "completed");
      case "task.failed":
        return this.#setStatus(id, "failed");
      case "task.cancelled":
        return this.#setStatus(id, "cancelled");
      default:
        return [];
    }
  }

  /** Reviews of the job and of its subtasks. */
  #noteReview({ type, task_id: taskId, data }: JobEvent): ChatPart[] {
    if (type !== "review.requested" && type !== "review.answered") return [];
    const isOwn = taskId === this.#message.job_id;
    const id = reviewId({ task_id: taskId, seq: data.step_seq });
    const call = isOwn ? this.#callOfStep.get(data.step_seq) : undefined;
    const toolCallId = call ?? `review-${id}`;
    if (type === "review.requested") {
      this.#requestedReviews.add(id);
      const { kind = "question", question, options = null, context = null } = data;
      const input = { question, options, context };
      return [
        ...(call !== undefined ? [] : [
          {
            type: "tool-input-available",
            toolCallId,
            toolName: "request_human_review",
            input,
            dynamic: true,
          } satisfies ChatPart,
        ]),
        {
          type: "tool-approval-request",
          approvalId: id,
          toolCallId,
          approvalDescriptor: { kind, ...input },
        },
      ];
    }
    this.#statuses.set(taskId, "running");
    const { approved, response = {}, comments = null } = data;
    if (!approved) return [{ type: "tool-output-denied", toolCallId }];
    return [output(toolCallId, { approved, response, comments })];
  }

  #noteAnswer(event: Extract<JobEvent, { type: "model.completed" }>): ChatPart[] {
    const {
      step_seq: seq,
      reasoning,
      tool_calls: calls = [],
      provider_tool_calls: searches,
      finish_reason: reason,
    } = event.data;
    const answer = withoutOuterSpace(
      answerText(event.data, this.#texts.textBefore(event.data.continues)),
    );
    const parts = [...this.#openModelStep(event.data)];
    const isOutputShown = answer.output !== null &&
      (this.#text?.shown.length ?? 0) > answer.text.length;
    parts.push(...this.#show(seq, isOutputShown ? answer.streamed : answer.text, true));
    this.#texts.note(event);
    this.#partial = "";
    this.#lastText = answer.text;
    this.#isCut = reason === "length";
    // The text of a cut answer goes on in the next step.
    if (answer.output !== null) this.#proposed = answer;
    else if (!this.#isCut || calls.length > 0) parts.push(...this.#closeText());
    if (typeof reasoning === "string" && reasoning !== "") {
      const id = `reasoning-${seq}`;
      parts.push({ type: "reasoning-start", id }, {
        type: "reasoning-delta",
        id,
        delta: reasoning,
      });
      parts.push({ type: "reasoning-end", id });
    }
    for (const [index, { url, title }] of sourcesIn(searches).entries()) {
      const source: ChatPart = { type: "source-url", sourceId: `source-${seq}-${index}`, url };
      parts.push(title === undefined ? source : { ...source, title });
    }
    for (const [index, call] of calls.entries()) {
      if (call.name === FINAL_TOOL) continue;
      parts.push(...this.#startCall(seq + 1 + this.#guardrailCount + index, call));
    }
    return parts;
  }

  #openModelStep(
    { step_seq: seq, continues }: { readonly step_seq: number; readonly continues?: number },
  ): ChatPart[] {
    if (this.#openStep === seq) return [];
    const isSameStep = continues !== undefined && this.#openStep !== null;
    const parts: ChatPart[] = isSameStep ? [] : [...this.#closeStep(), { type: "start-step" }];
    this.#openStep = seq;
    this.#before = this.#texts.textBefore(continues);
    this.#guardrailCount = 0;
    return parts;
  }

  #closeStep(): ChatPart[] {
    if (this.#openStep === null) return [];
    this.#openStep = null;
    const isRefused = this.#proposed !== null && this.#text?.shown !== this.#proposed.text;
    this.#proposed = null;
    const isPartial = this.#partial !== "" || isRefused || this.#isCut;
    return [...this.#closeText(isPartial), { type: "finish-step" }];
  }

  /** Shows the text of a model call so far. */
  #show(seq: number, text: string, isWhole = false): ChatPart[] {
    const parts = this.#openModelStep({ step_seq: seq });
    const shown = this.#text?.shown ?? "";
    // A call that was made again begins with what the reader has seen.
    if (!isWhole && shown.startsWith(text)) return parts;
    if (!text.startsWith(shown)) {
      if (this.#message.canReset === true) {
        this.#text = null;
        parts.push({ type: "reset-step" });
      } else parts.push(...this.#closeText(true));
    }
    const rest = text.slice(this.#text?.shown.length ?? 0);
    if (rest === "") return parts;
    if (this.#text === null) {
      this.#text = { id: `text-${seq}-${this.#textCount++}`, shown: "" };
      parts.push({ type: "text-start", id: this.#text.id });
    }
    this.#text.shown = text;
    parts.push({ type: "text-delta", id: this.#text.id, delta: rest });
    return parts;
  }

  #closeText(isPartial = false): ChatPart[] {
    if (this.#text === null) return [];
    const { id } = this.#text;
    this.#text = null;
    return [
      isPartial
        ? { type: "text-end", id, providerMetadata: { supaswarm: { is_partial: true } } }
        : { type: "text-end", id },
    ];
  }

  /** An output that is not the text of the last answer. */
  #showOutput(data: unknown): ChatPart[] {
    if (this.#openStep !== null && this.#proposed !== null && data === this.#proposed.output) {
      const { streamed } = this.#proposed;
      this.#proposed = null;
      return [...this.#show(this.#openStep, streamed, true), ...this.#closeText()];
    }
    if (data === undefined) return [];
    if (typeof data !== "string") return [{ type: "data-output", id: "output", data }];
    const id = "output";
    const delta = data.trim();
    if (delta === this.#lastText) return [];
    return [
      ...this.#closeText(this.#isCut),
      { type: "text-start", id },
      { type: "text-delta", id, delta },
      { type: "text-end", id },
    ];
  }

  #end(last: ChatPart): ChatPart[] {
    this.#hasEnded = true;
    // An answer that is cut and not repeated keeps what came of it.
    const { step_seq: seq, text } = { step_seq: this.#openStep, text: this.#partial };
    const isCut = seq !== null && this.#proposed === null && (text !== "" || this.#text !== null);
    // Of a text that has no end, what is at its end is not around it.
    const parts = seq !== null && text !== "" ? this.#show(seq, text.trimStart()) : [];
    if (isCut) this.#partial ||= this.#text?.shown ?? "";
    return [...parts, ...this.#closeStep(), last];
  }

  #startCall(seq: number, call: RequestedCall): ChatPart[] {
    const { call_id: callId, name: toolName, arguments: input } = call;
    // Models number their calls anew in each answer.
    const toolCallId = this.#callIds.has(callId) ? `${callId}-${seq}` : callId;
    this.#callIds.add(toolCallId);
    this.#callOfStep.set(seq, toolCallId);
    return [{ type: "tool-input-available", toolCallId, toolName, input, dynamic: true }];
  }

  #callIdOf(seq: number | undefined): string | undefined {
    return seq === undefined ? undefined : this.#callOfStep.get(seq);
  }

  #outputOf(seq: number, value: unknown): ChatPart[] {
    const id = this.#callOfStep.get(seq);
    return id === undefined ? [] : [output(id, value)];
  }

  #setStatus(taskId: string, status: string): ChatPart[] {
    if (this.#statuses.get(taskId) === status) return [];
    this.#statuses.set(taskId, status);
    if (taskId === this.#message.job_id) return [];
    const agent = this.#agents.get(taskId) ?? null;
    return [{ type: "data-subtask", id: taskId, data: { task_id: taskId, agent, status } }];
  }
}

/**
 * An answer as it is shown: the output of a task has no white space around it either, and the end of
 * a text that streams is not known.
 */
function withoutOuterSpace({ text, output, streamed }: AnswerText): AnswerText {
  return { text: text.trim(), output, streamed: streamed.trim() };
}

function output(toolCallId: string, value: unknown): ChatPart {
  return { type: "tool-output-available", toolCallId, output: value, dynamic: true };
}

/** The pages that the provider's own tools report. */
function sourcesIn(value: unknown): { readonly url: string; readonly title?: string }[] {
  if (Array.isArray(value)) return value.flatMap(sourcesIn);
  if (typeof value !== "object" || value === null) return [];
  const { url, title } = value as { url?: unknown; title?: unknown };
  if (typeof url === "string" && /^https?:/.test(url)) {
    return [typeof title === "string" ? { url, title } : { url }];
  }
  return Object.values(value).flatMap(sourcesIn);
}
