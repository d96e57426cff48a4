interface Waiting<T> {
  readonly userId: string;
  readonly resolve: (resource: T) => void;
}

/**
 * Shares resources among users. The user who was served longest ago is next, and a user holds only
 * one of several resources at a time, so that slow work of one user does not block others.
 */
export class UserTurns<T> {
  readonly #free: T[];
  readonly #isShared: boolean;
  readonly #waiting: Waiting<T>[] = [];
  readonly #holding = new Set<string>();
  /** Users in the order in which they were last served, the most recent last. */
  readonly #served = new Set<string>();

  constructor(resources: readonly T[]) {
    this.#free = [...resources];
    this.#isShared = resources.length > 1;
  }

  /** Waits for the user's turn. @throws the signal's reason if it aborts first. */
  async take(userId: string, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted();
    const turn = Promise.withResolvers<T>();
    const waiting = { userId, resolve: turn.resolve };
    const abort = () => {
      const place = this.#waiting.indexOf(waiting);
      if (place < 0) return;
      this.#waiting.splice(place, 1);
      turn.reject(signal.reason);
    };
    signal.addEventListener("abort", abort, { once: true });
    this.#waiting.push(waiting);
    this.#serve();
    try {
      return await turn.promise;
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }

  /** Passes the resource to the next user. */
  giveBack(userId: string, resource: T): void {
    this.#holding.delete(userId);
    this.#free.push(resource);
    this.#serve();
  }

  #serve(): void {
    while (this.#free.length > 0) {
      const next = this.#next();
      if (next === undefined) break;
      const resource = this.#free.pop();
      if (resource === undefined) break;
      this.#waiting.splice(this.#waiting.indexOf(next), 1);
      this.#holding.add(next.userId);
      this.#served.delete(next.userId);
      this.#served.add(next.userId);
      next.resolve(resource);
    }
    // No user waits, so the order no longer matters.
    if (this.#waiting.length === 0 && this.#holding.size === 0) this.#served.clear();
  }

  #next(): Waiting<T> | undefined {
    const order = [...this.#served];
    let best: Waiting<T> | undefined;
    let bestPlace = Infinity;
    for (const waiting of this.#waiting) {
      if (this.#isShared && this.#holding.has(waiting.userId)) continue;
      const place = order.indexOf(waiting.userId);
      if (place < bestPlace) [best, bestPlace] = [waiting, place];
    }
    return best;
  }
}
