import { ArgumentTextDecoder } from "./argument_text_decoder.ts";
import type { ModelRequest } from "./model_port.ts";

/** Where streamed text goes, and which of it. */
export interface AnswerDeltasOptions {
  readonly request: Pick<ModelRequest, "streamedArgument">;
  readonly onDelta: ((text: string) => void) | undefined;
  /** The answer is a document, which nobody wants to read as it grows. */
  readonly isDocument: boolean;
}

/**
 * What people read of an answer as it streams in: its text, and the text of the one argument that
 * holds the final answer. A document in JSON is not for reading and gives nothing.
 */
export class AnswerDeltas {
  readonly #options: AnswerDeltasOptions;
  /** Of the first call that holds the final answer. */
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
