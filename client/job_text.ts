import type { JobMessage } from "./job_channels.ts";
import type { JobEvent, JobEventData } from "./job_event.ts";

/** Progress of the answer that a model is writing. */
export interface TextPart {
  /** The step of the model call: each call of the job is a step. */
  readonly step: number;
  /** The answer so far; of a call that continues a cut answer, all of it. */
  readonly text: string;
  /** What is new. */
  readonly delta: string;
  /** True if this replaces the earlier text of the step: the call was cut and started again. */
  readonly restarted: boolean;
}

/** Streamed text as Realtime sends it. */
export interface TextDelta {
  readonly step: number;
  /** UTF-16 code units of the answer before this text. */
  readonly offset: number;
  readonly text: string;
  /** It was read instead of received, and may be older than what was received. */
  readonly isRead?: true;
}

/** The text of a model's whole answer. */
export interface AnswerText {
  /** What the model says. */
  readonly text: string;
  /** The text that becomes the task's output; null if the answer does not end the task with a text. */
  readonly output: string | null;
  /** Both, as they stream. */
  readonly streamed: string;
}

/** The tool that ends a task with an output. */
export const FINAL_TOOL = "complete_task";

/** The text of an answer that has ended. @param before The text that it continues. @default none */
export function answerText(
  { text: rest = "", tool_calls }: JobEventData["model.completed"],
  before = "",
): AnswerText {
  const text = before + rest;
  const final = tool_calls?.find(({ name }) => name === FINAL_TOOL)?.arguments;
  const argument = typeof final === "object" && final !== null && !Array.isArray(final)
    ? (final as { readonly output?: unknown }).output
    : undefined;
  const output = typeof argument === "string" ? argument : null;
  const streamed = [text, output ?? ""].filter((part) => part !== "").join("\n\n");
  return { text, output, streamed };
}

/** The text of a task's message, or null for another one. */
export function deltaOf({ event, payload }: JobMessage, taskId: string): TextDelta | null {
  if (event !== "model.delta" || payload.task_id !== taskId) return null;
  const { step_seq, offset, text } = payload.data;
  return { step: Number(step_seq), offset: Number(offset), text: String(text) };
}

/**
 * Joins the text that a task's models stream with its events. Streamed text may be lost or come
 * twice; the event at the end of a call has all of it.
 */
export class TextAssembly {
  /** The text of each call in progress. */
  readonly #texts = new Map<number, string>();
  /** The whole texts of the answers that were cut at the output limit. */
  readonly #cut = new Map<number, string>();
  /** The text that each call in progress continues. */
  readonly #before = new Map<number, string>();
  /** Text of calls whose start is not known yet. */
  #early: TextDelta[] = [];
  #lastEnded = 0;

  /** Takes streamed text. */
  add(delta: TextDelta): TextPart[] {
    if (delta.step <= this.#lastEnded) return [];
    // A reader that begins within a call does not see the event of its start.
    const isFirst = delta.offset === 0 && this.#texts.size === 0;
    const before = this.#texts.get(delta.step) ?? (isFirst ? "" : undefined);
    if (before === undefined) {
      this.#early.push(delta);
      return [];
    }
    const mayBeOld = delta.offset > 0 || delta.isRead === true;
    if (mayBeOld && before.startsWith(delta.text, delta.offset)) return [];
    // A piece is missing: the event at the end has it.
    if (delta.offset > before.length) return [];
    return this.#set(delta.step, before.slice(0, delta.offset) + delta.text);
  }

  /** Takes an event of the task. */
  note(event: JobEvent): TextPart[] {
    if (event.type === "model.started") {
      const { step_seq: step } = event.data;
      this.#before.set(step, this.textBefore(event.data.continues));
      if (!this.#texts.has(step)) this.#texts.set(step, "");
      const early = this.#early.filter((delta) => delta.step === step);
      this.#early = this.#early.filter((delta) => delta.step > step);
      return early.flatMap((delta) => this.add(delta));
    }
    if (event.type !== "model.completed") return [];
    const { step_seq: step, summarizes_through: summary, finish_reason: reason } = event.data;
    const before = this.textBefore(event.data.continues);
    if (reason === "length") this.#cut.set(step, before + (event.data.text ?? ""));
    this.#before.set(step, before);
    const parts = summary === undefined ? this.#set(step, answerText(event.data).streamed) : [];
    this.#texts.delete(step);
    this.#before.delete(step);
    this.#lastEnded = Math.max(this.#lastEnded, step);
    return parts;
  }

  /** The text that a model call continues, through this step. */
  textBefore(step: number | undefined): string {
    return step === undefined ? "" : this.#cut.get(step) ?? "";
  }

  #set(step: number, text: string): TextPart[] {
    const before = this.#texts.get(step) ?? "";
    this.#texts.set(step, text);
    if (text === before) return [];
    const restarted = !text.startsWith(before);
    const whole = (this.#before.get(step) ?? "") + text;
    return [{
      step,
      text: whole,
      delta: restarted ? whole : text.slice(before.length),
      restarted,
    }];
  }
}
