import type { ModelRequest } from "./model_port.ts";

const ESCAPES: Readonly<Record<string, string>> = {
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};

/**
 * Decodes the text of one argument of a call while the call's JSON streams in: `{"output":"Hel`
 * yields `Hel`. An argument that is not a string yields nothing.
 */
export class ArgumentTextDecoder {
  readonly #argument: string;
  #depth = 0;
  #expectsKey = false;
  #key = "";
  /** Which string is being read: a key or value of the top-level object, or another one. */
  #string: "none" | "key" | "wanted" | "other" = "none";
  /** The characters after a backslash so far; null outside an escape. */
  #escape: string | null = null;
  /** The first half of a surrogate pair, until the second half arrives. */
  #highSurrogate = "";

  constructor(argument: string) {
    this.#argument = argument;
  }

  /** Reads more of the JSON and returns the text that it adds, in whole characters. */
  push(piece: string): string {
    let text = this.#highSurrogate;
    for (let index = 0; index < piece.length; index++) text += this.#read(piece.charAt(index));
    const isCut = /[\uD800-\uDBFF]$/.test(text);
    this.#highSurrogate = isCut ? text.slice(-1) : "";
    return (isCut ? text.slice(0, -1) : text).toWellFormed();
  }

  #read(unit: string): string {
    if (this.#string !== "none") return this.#readInString(unit);
    switch (unit) {
      case '"':
        this.#beginString();
        break;
      case "{":
      case "[":
        this.#depth++;
        this.#expectsKey = this.#depth === 1 && unit === "{";
        break;
      case "}":
      case "]":
        this.#depth--;
        break;
      case ":":
        if (this.#depth === 1) this.#expectsKey = false;
        break;
      case ",":
        if (this.#depth === 1) this.#expectsKey = true;
    }
    return "";
  }

  #beginString(): void {
    if (this.#depth === 1 && this.#expectsKey) {
      this.#string = "key";
      this.#key = "";
    } else {
      const isWanted = this.#depth === 1 && this.#key === this.#argument;
      this.#string = isWanted ? "wanted" : "other";
    }
  }

  #readInString(unit: string): string {
    if (this.#escape === null && unit === '"') {
      this.#string = "none";
      return "";
    }
    const decoded = this.#decode(unit);
    if (this.#string === "key") this.#key += decoded;
    return this.#string === "wanted" ? decoded : "";
  }

  #decode(unit: string): string {
    if (this.#escape === null) {
      if (unit !== "\\") return unit;
      this.#escape = "";
      return "";
    }
    this.#escape += unit;
    if (this.#escape.startsWith("u") && this.#escape.length < 5) return "";
    const escape = this.#escape;
    this.#escape = null;
    if (!escape.startsWith("u")) return ESCAPES[escape] ?? escape;
    const code = Number.parseInt(escape.slice(1), 16);
    return Number.isNaN(code) ? "\uFFFD" : String.fromCharCode(code);
  }
}

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
