/** One request that reached the model server. */
export interface JournalEntry {
  /** When it came, in milliseconds since the epoch. */
  readonly atMs: number;
  /** Who answered; null when no scripted agent plays the request. */
  readonly agent: string | null;
  readonly model: string;
  /** The whole request as JSON text, in the chat-completions form. */
  readonly body: string;
}

/** Default number of kept requests. */
const DEFAULT_CAPACITY = 500;

/** The newest requests of a model server, and how many each agent ever got. */
export class ModelJournal {
  readonly #capacity: number;
  readonly #counts = new Map<string, number>();
  #entries: JournalEntry[] = [];

  /** @param capacity The number of entries kept. @default 500 */
  constructor(capacity = DEFAULT_CAPACITY) {
    this.#capacity = capacity;
  }

  add(entry: JournalEntry): void {
    const name = entry.agent ?? "";
    this.#counts.set(name, this.count(name) + 1);
    this.#entries = [...this.#entries, entry].slice(-this.#capacity);
  }

  /** The requests kept, oldest first. */
  entries(): readonly JournalEntry[] {
    return this.#entries;
  }

  /** Requests to this agent since the start, those no longer kept included; "" for nobody's. */
  count(agent: string): number {
    return this.#counts.get(agent) ?? 0;
  }

  /** The kept requests that contain a text, for example a secret that must not be in any. */
  search(text: string): readonly JournalEntry[] {
    // A text with quotes or line breaks stands in the body in its escaped form.
    const escaped = JSON.stringify(text).slice(1, -1);
    return this.#entries.filter(({ body }) => body.includes(text) || body.includes(escaped));
  }
}
