import { seededRandom } from "../../../scripts/seeded_random.ts";

/** What happens to a worker at a point of a step. */
export type Fate =
  /** SIGKILL: nothing of the process runs after that. */
  | "kill"
  /** SIGSTOP until another worker has the task; then it wakes and goes on where it was. */
  | "freeze"
  /** All its database connections end. */
  | "cut";

/** The two points of a step: it is written down and not yet run; it has run and is not yet stored. */
export type Point = "before" | "after";

/** A point of a step of a task. */
export interface Place {
  readonly seed: number;
  /** Where the task stands in its job, such as `7.3`; its id is another in every run. */
  readonly position: string;
  readonly seq: number;
  readonly point: Point;
}

/** Of all points. */
const SHARES: readonly (readonly [Fate, number])[] = [
  ["kill", 0.014],
  ["freeze", 0.014],
  ["cut", 0.006],
];

/** What the seed has in store for a point, in every run the same; null, mostly. */
export function fateAt({ seed, position, seq, point }: Place): Fate | null {
  let left = seededRandom(hashOf(`${seed} ${position} ${seq} ${point}`))();
  for (const [fate, share] of SHARES) {
    if (left < share) return fate;
    left -= share;
  }
  return null;
}

/** FNV-1a, 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}
