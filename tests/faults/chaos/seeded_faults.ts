import { seededRandom } from "../../../scripts/seeded_random.ts";

/** A fault of a worker at a point of a step. */
export type SeededFault =
  /** SIGKILL: the process runs nothing afterwards. */
  | "kill"
  /** SIGSTOP until another worker has the task; then it resumes where it was. */
  | "freeze"
  /**
   * All its database connections are closed. Of a handed task: during the fetch, or after it so that
   * only its answer is lost.
   */
  | "cut";

/** The points at which a worker may be disturbed. */
export const POINTS = [
  /** A new task was handed to the worker, which has not fetched it. */
  "handed",
  /** The worker has fetched a handed task. */
  "fetched",
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

type Shares = readonly (readonly [SeededFault, number])[];

/** Of all points of steps. */
const STEP_SHARES: Shares = [["kill", 0.014], ["freeze", 0.014], ["cut", 0.006]];
/** Higher, because only the master tasks that are created for an idle worker are handed over. */
const HAND_OVER_SHARES: Shares = [["kill", 0.12], ["freeze", 0.06], ["cut", 0.12]];
const SHARES: Readonly<Record<Point, Shares>> = {
  handed: HAND_OVER_SHARES,
  fetched: HAND_OVER_SHARES,
  before: STEP_SHARES,
  after: STEP_SHARES,
};

/** The fault of the seed for a point, the same in every run; mostly null. */
export function seededFaultAt({ seed, position, seq, point }: Place): SeededFault | null {
  let left = seededRandom(hashOf(`${seed} ${position} ${seq} ${point}`))();
  for (const [fault, share] of SHARES[point]) {
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
