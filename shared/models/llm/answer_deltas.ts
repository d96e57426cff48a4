import { ArgumentTextDecoder } from "./argument_text_decoder.ts";
import type { ModelRequest } from "./model_port.ts";

/** Which parts of a stream are passed on, and to whom. */
export interface AnswerDeltasOptions {
  readonly request: Pick<ModelRequest, "streamedArgument">;
  readonly onDelta: ((text: string) => void) | undefined;
  /** The answer is a JSON document, which is not shown while it streams. */
  readonly isDocument: boolean;
}

/**
 * Passes on the readable parts of a streaming answer: its text, and the text of the argument that
 * holds the final answer. A JSON document produces nothing.
 */
export class AnswerDeltas {
  readonly #options: AnswerDeltasOptions;
  /** The decoder for the first call that holds the final answer. */
  #final: { readonly callNumber: number; readonly decoder: ArgumentTextDecoder } | null = null;
  #hasText = false;
  #hasFinalText = false;

  constructor(options: AnswerDeltasOptions) {
    this.#options = options;
  }

  text(piece: string): void {
    if (piece === "" || this.#options.isDocument) return;
    this.#hasText = true;
    this.#options.onDelta?.(piece);
  }

  /** @param piece More of the call's arguments, as JSON. */
  callArguments(callNumber: number, name: string, piece: string): void {
    const { onDelta, request: { streamedArgument } } = this.#options;
    if (onDelta === undefined || name !== streamedArgument?.tool) return;
    this.#final ??= {
      callNumber,
      decoder: new ArgumentTextDecoder(streamedArgument.argument),
    };
    if (this.#final.callNumber !== callNumber) return;
    const text = this.#final.decoder.push(piece);
    if (text === "") return;
    const gap = this.#hasText && !this.#hasFinalText ? "\n\n" : "";
    this.#hasFinalText = true;
    onDelta(gap + text);
  }
}
