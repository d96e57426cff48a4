/** A text by its lines, counted from 0; offsets are characters. */
export class DocumentLines {
  readonly text: string;
  /** The start of each line, plus the end of the text. */
  readonly #starts: readonly number[];

  constructor(text: string) {
    this.text = text;
    const starts = [0];
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
    if (starts.at(-1) !== text.length) starts.push(text.length);
    this.#starts = starts;
  }

  /** A last line without a line end counts; an empty one after the last line end does not. */
  get count(): number {
    return this.#starts.length - 1;
  }

  /** Where a line begins; beyond the last line, the end of the text. */
  offset(line: number): number {
    return this.#starts[Math.min(line, this.count)] ?? this.text.length;
  }

  /** A line without its end. */
  line(line: number): string {
    return this.text.slice(this.offset(line), this.offset(line + 1)).replace(/\n$/, "");
  }

  /** The line of a character. */
  lineAt(offset: number): number {
    let low = 0;
    let high = Math.max(this.count - 1, 0);
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (this.offset(middle) <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
