import type { Dice } from "./dice.ts";

/**
 * Everything that happens in a world without being necessary: faults, acts of clients, work that a
 * model asks for. A failing world is reduced by leaving some of it out.
 */
export class Disturbances {
  readonly #omitted: ReadonlySet<string>;
  readonly #counts = new Map<string, number>();
  /** What has happened, by id, in order. */
  readonly taken: string[] = [];

  constructor(omitted: ReadonlySet<string>) {
    this.#omitted = omitted;
  }

  /** Whether the disturbance happens. `about` tells it from others of its kind in this world. */
  happens(about: string): boolean {
    const count = (this.#counts.get(about) ?? 0) + 1;
    this.#counts.set(about, count);
    const id = count === 1 ? about : `${about} (${count})`;
    if (this.#omitted.has(id)) return false;
    this.taken.push(id);
    return true;
  }

  /** A fault with this share, or null. The dice are always thrown equally often. */
  pick<Kind extends string>(
    dice: Dice,
    share: number,
    about: string,
    kinds: readonly Kind[],
  ): Kind | null {
    const isDue = dice.chance(share);
    const kind = dice.pick(kinds);
    return isDue && this.happens(`${about}: ${kind}`) ? kind : null;
  }
}
