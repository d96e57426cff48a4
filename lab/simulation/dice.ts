import { seededRandom } from "../../scripts/seeded_random.ts";

/**
 * The choices of one actor. Each actor has its own, so that leaving out what one of them does changes
 * nothing for the others until it reaches them.
 */
export class Dice {
  readonly #next: () => number;

  constructor(seed: number, actor: string) {
    this.#next = seededRandom(hashOf(`${seed}:${actor}`));
  }

  /** A number in [0, 1). */
  number(): number {
    return this.#next();
  }

  chance(share: number): boolean {
    return this.#next() < share;
  }

  /** A whole number; both ends are included. */
  int(from: number, to: number): number {
    return from + Math.floor(this.#next() * (to - from + 1));
  }

  pick<T>(choices: readonly T[]): T {
    return choices[Math.floor(this.#next() * choices.length)] as T;
  }
}

/** FNV-1a, then mixed: similar names must not give similar numbers. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x45d9f3b);
  return Math.imul(hash ^ (hash >>> 16), 0x45d9f3b) | 0;
}
