import type { Dice } from "./dice.ts";
import { settle, time } from "./virtual_globals.ts";

/** A process. Its events wait while it is frozen and are dropped when it is dead. */
export interface Process {
  readonly name: string;
  isDead: boolean;
  frozenUntilMs: number;
}

interface Event {
  readonly dueMs: number;
  readonly order: number;
  readonly process: Process | null;
  readonly run: () => void | Promise<void>;
}

/** Lets everything that waits run one at a time, in an order that the seed decides. */
export class Scheduler {
  readonly #dice: Dice;
  /** Sorted, the next one last. */
  #events: Event[] = [];
  count = 0;

  constructor(dice: Dice) {
    this.#dice = dice;
  }

  /**
   * Runs something after a delay; the seed orders what is due at the same moment.
   *
   * @returns a function that cancels it.
   */
  after(delayMs: number, process: Process | null, run: Event["run"]): () => void {
    const dueMs = time.ms + Math.max(0, delayMs);
    const event = { dueMs, order: this.#dice.number(), process, run };
    this.#insert(event);
    return () => {
      const index = this.#events.indexOf(event);
      if (index >= 0) this.#events.splice(index, 1);
    };
  }

  #insert(event: Event): void {
    let low = 0;
    let high = this.#events.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isLater(this.#events[middle] as Event, event)) low = middle + 1;
      else high = middle;
    }
    this.#events.splice(low, 0, event);
  }

  /** Runs the next event, and all code that follows from it. @returns false when nothing waits. */
  async step(): Promise<boolean> {
    const event = this.#events.pop();
    if (event === undefined) return false;
    const { process, run } = event;
    if (process?.isDead) return true;
    time.ms = Math.max(time.ms, event.dueMs);
    if (process !== null && process.frozenUntilMs > time.ms) {
      this.#insert({ ...event, dueMs: process.frozenUntilMs + this.#dice.int(0, 20) });
      return true;
    }
    this.count++;
    await run();
    await settle();
    return true;
  }

  /** Drops everything. */
  clear(): void {
    this.#events = [];
  }
}

function isLater(one: Event, other: Event): boolean {
  return one.dueMs > other.dueMs || (one.dueMs === other.dueMs && one.order > other.order);
}
