/** Counts the running work of an isolate: requests until their last byte, and background work. */
export class IsolateActivity {
  #ongoing = 0;
  #onChange: (count: number) => void = () => {};
  #quietWaiters: (() => void)[] = [];

  /** Counts one more piece of work until the returned function is called. */
  begin(): () => void {
    this.#add(1);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#add(-1);
      if (this.#ongoing === 0) this.#release();
    };
  }

  /** Resolves when no work is running. */
  quiet(): Promise<void> {
    if (this.#ongoing === 0) return Promise.resolve();
    return new Promise((resolve) => this.#quietWaiters.push(resolve));
  }

  /** Calls `onChange` with the count of running work, now and after each change. */
  follow(onChange: (count: number) => void): void {
    this.#onChange = onChange;
    onChange(this.#ongoing);
  }

  #add(change: 1 | -1): void {
    this.#ongoing += change;
    this.#onChange(this.#ongoing);
  }

  #release(): void {
    const waiters = this.#quietWaiters;
    this.#quietWaiters = [];
    for (const resolve of waiters) resolve();
  }
}
