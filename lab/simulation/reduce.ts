import type { WorldReport } from "./world.ts";

/** Runs a world without some of its disturbances. */
export type RunWithout = (omitted: ReadonlySet<string>) => Promise<WorldReport>;

/** A world that fails in the same way with as few disturbances as were found. */
export interface Reduction {
  /** The invariant that it violates. */
  readonly name: string;
  readonly omitted: ReadonlySet<string>;
  /** The disturbances that are left. */
  readonly needed: readonly string[];
  readonly runs: number;
}

/** A reduction ends after as many runs, however small the world could still become. */
const MAX_RUNS = 200;

/**
 * Leaves out disturbances, many at first and then one by one, as long as the same invariant is
 * violated: the delta debugging of Zeller and Hildebrandt, on what happened instead of on a text.
 */
export async function reduceWorld(failed: WorldReport, run: RunWithout): Promise<Reduction> {
  const [violation] = failed.violations;
  if (violation === undefined) throw new RangeError("the world does not fail");
  const { name } = violation;
  let omitted = new Set<string>();
  let needed = failed.disturbances;
  let runs = 0;
  let size = Math.ceil(needed.length / 2);
  while (size >= 1) {
    let hasShrunk = false;
    for (let start = 0; start < needed.length && runs < MAX_RUNS;) {
      const tried = new Set([...omitted, ...needed.slice(start, start + size)]);
      const report = await run(tried);
      runs++;
      if (!report.violations.some((found) => found.name === name)) {
        start += size;
        continue;
      }
      // What can only happen after something that was left out is gone as well.
      omitted = tried;
      needed = report.disturbances;
      hasShrunk = true;
    }
    if (runs >= MAX_RUNS || (size === 1 && !hasShrunk)) break;
    size = size === 1 ? 1 : Math.ceil(size / 2);
  }
  return { name, omitted, needed, runs };
}
