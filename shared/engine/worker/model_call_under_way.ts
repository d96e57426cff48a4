import type { Prompt } from "../agent/build_prompt.ts";
import type { Clock } from "../../platform/isolate/clock.ts";
import { CHARS_PER_TOKEN, estimatedOutputTokens } from "../../models/llm/estimated_tokens.ts";
import type { CutCall } from "./task_store.ts";

/** Facts about a running model call. */
export interface ModelCallUnderWayOptions {
  readonly seq: number;
  readonly prompt: Prompt;
  /** The agent's limit for an answer. */
  readonly maxTokens: number | null;
  readonly clock: Clock;
}

/** Of the text of an answer that may be cut. */
const MAX_KEPT_CHARS = 100_000;

/**
 * A model call without a complete answer. It costs money even if the answer is lost.
 */
export class ModelCallUnderWay {
  readonly #options: ModelCallUnderWayOptions;
  readonly #beganAtMs: number;
  #receivedChars = 0;
  #text = "";

  constructor(options: ModelCallUnderWayOptions) {
    this.#options = options;
    this.#beganAtMs = options.clock.nowMs();
  }

  /** Whether a part of the answer has arrived. */
  get hasAnswer(): boolean {
    return this.#receivedChars > 0;
  }

  /** Keeps text that has streamed in. */
  receive(text: string): void {
    this.#receivedChars += text.length;
    if (this.#text.length < MAX_KEPT_CHARS) this.#text += text;
  }

  /** The estimated usage of the call so far, with the text that has arrived. */
  estimate(): CutCall {
    const { seq, prompt, maxTokens, clock } = this.#options;
    const seconds = (clock.nowMs() - this.#beganAtMs) / 1_000;
    return {
      seq,
      input_tokens: Math.ceil(JSON.stringify(prompt).length / CHARS_PER_TOKEN),
      output_tokens: estimatedOutputTokens({
        receivedChars: this.#receivedChars,
        seconds,
        maxTokens,
      }),
      ...this.#text === "" ? {} : { text: this.#text.slice(0, MAX_KEPT_CHARS) },
    };
  }
}
