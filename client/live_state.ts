/** A state, and how to follow what changes it. */
export interface LiveStateOptions<State> {
  readonly initial: State;
  /** Calls `set()` until the signal is aborted or nothing can change anymore. It does not throw. */
  readonly follow: (signal: AbortSignal) => Promise<void>;
  /** Completes a state before subscribers see it. */
  readonly show?: (state: State) => State;
}

/**
 * A state that is followed while somebody subscribes to it. Changes that arrive together are one
 * change for the subscribers.
 */
export class LiveState<State extends object> {
  readonly #options: LiveStateOptions<State>;
  readonly #listeners = new Set<{ readonly notify: () => void }>();
  #shown: State;
  #next: State;
  #run: AbortController | undefined;
  #isDueAgain = false;
  #isDetached = false;
  #showing: ReturnType<typeof setTimeout> | undefined;
  #stopping: ReturnType<typeof setTimeout> | undefined;

  constructor(options: LiveStateOptions<State>) {
    this.#options = options;
    this.#shown = this.#next = options.initial;
  }

  /** What subscribers see: another object after each change. */
  get shown(): State {
    return this.#shown;
  }

  /** With the changes that subscribers do not see yet. */
  get next(): State {
    return this.#next;
  }

  set(change: Partial<State>): void {
    this.#next = { ...this.#next, ...change };
    this.#showing ??= setTimeout(() => this.#show());
  }

  subscribe(notify: () => void): () => void {
    const listener = { notify };
    this.#listeners.add(listener);
    clearTimeout(this.#stopping);
    if (!this.#isDetached) this.#start();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      clearTimeout(this.#stopping);
      // A component that mounts again at once goes on with the same connection.
      this.#stopping = setTimeout(() => this.#stop());
    };
  }

  /** Follows again, after `detach()` or because something new may come. */
  followAgain(): void {
    this.#isDetached = false;
    this.#isDueAgain = this.#run !== undefined;
    if (this.#listeners.size > 0) this.#start();
  }

  /** Follows nothing until {@linkcode followAgain}. */
  detach(): void {
    this.#isDetached = true;
    this.#stop();
  }

  #start(): void {
    if (this.#run !== undefined) return;
    const run = this.#run = new AbortController();
    void this.#options.follow(run.signal).then(() => {
      if (this.#run !== run) return;
      this.#run = undefined;
      if (!this.#isDueAgain) return;
      this.#isDueAgain = false;
      this.#start();
    });
  }

  #stop(): void {
    this.#run?.abort();
    this.#run = undefined;
    this.#isDueAgain = false;
  }

  #show(): void {
    this.#showing = undefined;
    const { show } = this.#options;
    this.#shown = this.#next = show?.(this.#next) ?? this.#next;
    for (const { notify } of [...this.#listeners]) notify();
  }
}
