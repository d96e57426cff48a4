/** Most refusals to remember; the oldest is forgotten first. */
const MAX_REMEMBERED = 200;

/**
 * Remembers which options models refused, so that later requests leave them out from the start.
 * Lives as long as its isolate: models change, and one more refused request finds out.
 */
export class RefusedOptions {
  readonly #counts = new Map<string, number>();

  /** How many times the option was conceded until the model accepted a request; 0: never. */
  countOf(key: string): number {
    return this.#counts.get(key) ?? 0;
  }

  remember(key: string, count: number): void {
    // Inserted again, so that the entry that was learned first is the first.
    this.#counts.delete(key);
    this.#counts.set(key, count);
    const [oldest] = this.#counts.keys();
    if (this.#counts.size > MAX_REMEMBERED && oldest !== undefined) this.#counts.delete(oldest);
  }
}
