/** One event of a stream. */
export interface ServerSentEvent {
  /** Empty if it has none. */
  readonly name: string;
  /** Its lines of data: together one document or, at some servers, each its own. */
  readonly data: readonly string[];
  /** Lines that are no field of the format. */
  readonly stray: readonly string[];
}

/** Fields without data; a comment has no name. */
const OTHER_FIELDS = ["id", "retry", ""];

/**
 * Splits a stream into its server-sent events, wherever its chunks are cut and whichever line ends it
 * has. Events without data and stray lines are left out, as are comments.
 */
export class ServerSentEvents {
  #line = "";
  #endsWithCr = false;
  #name = "";
  #data: string[] = [];
  #stray: string[] = [];

  /** The events that the text completes. */
  push(text: string): ServerSentEvent[] {
    const more = this.#endsWithCr && text.startsWith("\n") ? text.slice(1) : text;
    if (text !== "") this.#endsWithCr = text.endsWith("\r");
    const [first = "", ...lines] = more.split(/\r\n|\r|\n/);
    if (lines.length === 0) {
      this.#line += first;
      return [];
    }
    const last = lines.pop() ?? "";
    const whole = [this.#line + first, ...lines];
    this.#line = last;
    return whole.flatMap((line) => this.#read(line));
  }

  /** The last event, if no blank line follows it. */
  end(): ServerSentEvent[] {
    return this.push("\n\n");
  }

  #read(line: string): ServerSentEvent[] {
    if (line === "") return this.#take();
    const end = line.indexOf(":");
    const field = end < 0 ? line : line.slice(0, end);
    const value = end < 0 ? "" : line.slice(end + (line[end + 1] === " " ? 2 : 1));
    if (field === "data") this.#data.push(value);
    else if (field === "event") this.#name = value;
    else if (!OTHER_FIELDS.includes(field)) this.#stray.push(line);
    return [];
  }

  #take(): ServerSentEvent[] {
    const event = { name: this.#name, data: this.#data, stray: this.#stray };
    this.#name = "";
    this.#data = [];
    this.#stray = [];
    return event.data.length + event.stray.length === 0 ? [] : [event];
  }
}
