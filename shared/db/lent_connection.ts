/**
 * The right to one connection to the database, which its holder gives up while somebody else needs
 * it more. The holder closes its connection before the other one opens its own.
 */
export class LentConnection {
  #borrowing: PromiseWithResolvers<void> | null = null;
  #holding: { readonly asked: AbortController; readonly released: Promise<void> } | null = null;

  /**
   * Waits until nobody borrows the right, and takes it. The caller closes its connection and calls
   * `release` when `asked` aborts.
   *
   * @throws the signal's reason when it aborts before.
   */
  async hold(signal: AbortSignal): Promise<{ readonly asked: AbortSignal; release(): void }> {
    while (this.#borrowing !== null) {
      const aborted = Promise.withResolvers<never>();
      const onAbort = () => aborted.reject(signal.reason);
      signal.addEventListener("abort", onAbort, { once: true });
      await Promise.race([this.#borrowing.promise, aborted.promise])
        .finally(() => signal.removeEventListener("abort", onAbort));
    }
    signal.throwIfAborted();
    const asked = new AbortController();
    const { promise: released, resolve } = Promise.withResolvers<void>();
    this.#holding = { asked, released };
    return {
      asked: asked.signal,
      release: () => {
        this.#holding = null;
        resolve();
      },
    };
  }

  /** Asks the holder for the right and waits until it is free. One borrows at a time. */
  async borrow(): Promise<void> {
    this.#borrowing = Promise.withResolvers();
    this.#holding?.asked.abort();
    await this.#holding?.released;
  }

  /** Ends what {@linkcode borrow} began. */
  giveBack(): void {
    this.#borrowing?.resolve();
    this.#borrowing = null;
  }
}
