/**
 * Estimates tokens of any range of a text in constant time. A token is four ASCII characters, two
 * characters of other alphabets, and one of scripts without spaces, which matches the embedders'
 * tokenizers on average.
 */
export class TokenMeter {
  /** Quarters of a token before each character. */
  readonly #quarters: Uint32Array;

  constructor(text: string) {
    this.#quarters = new Uint32Array(text.length + 1);
    let sum = 0;
    for (let index = 0; index < text.length; index++) {
      sum += quartersOf(text.charCodeAt(index));
      this.#quarters[index + 1] = sum;
    }
  }

  /** Tokens from `start` to before `end`. */
  tokens(start: number, end: number): number {
    return Math.ceil((this.#before(end) - this.#before(start)) / 4);
  }

  /** The last position up to `end` for which the range from `start` has at most `maxTokens`. */
  fit(start: number, end: number, maxTokens: number): number {
    const limit = this.#before(start) + maxTokens * 4;
    let low = start;
    let high = end;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (this.#before(middle) <= limit) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #before(position: number): number {
    return this.#quarters[position] ?? 0;
  }
}

/** Tokens of a whole text, by the same estimate. */
export function estimateTextTokens(text: string): number {
  let quarters = 0;
  for (let index = 0; index < text.length; index++) quarters += quartersOf(text.charCodeAt(index));
  return Math.ceil(quarters / 4);
}

function quartersOf(code: number): number {
  if (code < 0x80) return 1;
  if (code < 0x0e00) return 2;
  if (code >= 0xd800 && code <= 0xdfff) return 2; // A surrogate: half of a character outside the basic plane.
  return code < 0x2000 || code >= 0x2e80 ? 4 : 2;
}
