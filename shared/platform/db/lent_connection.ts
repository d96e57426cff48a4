/**
 * The right to one database connection, which its holder gives up temporarily on request. The
 * holder closes its connection before the borrower opens its own.
 */
export class LentConnection {
  #borrowing: PromiseWithResolvers<void> | null = null;
  #holding: { readonly asked: AbortController; readonly released: Promise<void> } | null = null;

  /**
   * Waits until the right is not borrowed, and takes it. The caller closes its connection and calls
   * `release` when `asked` aborts.
   *
   * @throws the signal's reason if it aborts first.
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

  /**
   * Requests the right from the holder and waits until it is free. Only one caller borrows at a
   * time.
   */
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
