import { seededRandom } from "../../../scripts/seeded_random.ts";

/** A fault of a worker at a point of a step. */
export type SeededFault =
  /** SIGKILL: the process runs nothing afterwards. */
  | "kill"
  /** SIGSTOP until another worker has the task; then it resumes where it was. */
  | "freeze"
  /** All its database connections are closed. */
  | "cut";

/** The points at which a worker may be disturbed. */
export const POINTS = [
  /** A step is recorded but has not run. */
  "before",
  /** A step has run but is not stored. */
  "after",
] as const;

export type Point = typeof POINTS[number];

/** A point of a step of a task. */
export interface Place {
  readonly seed: number;
  /** The task's position in its job, such as `7.3`; its id differs in every run. */
  readonly position: string;
  readonly seq: number;
  readonly point: Point;
}

/** Of all points of steps. */
const SHARES: readonly (readonly [SeededFault, number])[] = [
  ["kill", 0.014],
  ["freeze", 0.014],
  ["cut", 0.006],
];

/** The fault of the seed for a point, the same in every run; mostly null. */
export function seededFaultAt({ seed, position, seq, point }: Place): SeededFault | null {
  let left = seededRandom(hashOf(`${seed} ${position} ${seq} ${point}`))();
  for (const [fault, share] of SHARES) {
    if (left < share) return fault;
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
