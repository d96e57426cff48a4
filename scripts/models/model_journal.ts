/** One request to the model server. */
export interface JournalEntry {
  /** Arrival time in milliseconds since 1970. */
  readonly atMs: number;
  /** The agent that answered; null when no scripted agent plays the request. */
  readonly agent: string | null;
  readonly model: string;
  /** The complete request as JSON text, in the chat-completions format. */
  readonly body: string;
}

const DEFAULT_CAPACITY = 500;

/** Stores the newest requests of a model server, and counts all requests of each agent. */
export class ModelJournal {
  readonly #capacity: number;
  readonly #counts = new Map<string, number>();
  #entries: JournalEntry[] = [];

  /** @param capacity Maximum number of stored entries. @default 500 */
  constructor(capacity = DEFAULT_CAPACITY) {
    this.#capacity = capacity;
  }

  add(entry: JournalEntry): void {
    const name = entry.agent ?? "";
    this.#counts.set(name, this.count(name) + 1);
    this.#entries = [...this.#entries, entry].slice(-this.#capacity);
  }

  /** The stored requests, oldest first. */
  entries(): readonly JournalEntry[] {
    return this.#entries;
  }

  /** Returns the number of all requests to this agent. "" counts requests that no agent plays. */
  count(agent: string): number {
    return this.#counts.get(agent) ?? 0;
  }

  /** Returns the stored requests that contain a text, for example a secret that must be in none. */
  search(text: string): readonly JournalEntry[] {
    // The body contains a text with quotes or line breaks in its escaped form.
    const escaped = JSON.stringify(text).slice(1, -1);
    return this.#entries.filter(({ body }) => body.includes(text) || body.includes(escaped));
  }
}
