/** Hands what callbacks push to one reader. */
export class Queue<Item> {
  #items: Item[] = [];
  #end: { readonly error: unknown } | null | undefined;
  #wake: () => void = () => {};

  push(...items: Item[]): void {
    this.#items.push(...items);
    this.#wake();
  }

  /** Ends the reader after the items that were pushed before. */
  close(): void {
    this.#end ??= null;
    this.#wake();
  }

  fail(error: unknown): void {
    this.#end ??= { error };
    this.#wake();
  }

  async *read(): AsyncGenerator<Item, void, undefined> {
    for (;;) {
      const items = this.#items;
      this.#items = [];
      yield* items;
      if (this.#items.length > 0) continue;
      if (this.#end) throw this.#end.error;
      if (this.#end === null) return;
      await new Promise<void>((resolve) => this.#wake = resolve);
    }
  }
}
