/** A bound that a figure is measured against. */
export type Target = { readonly min: number } | { readonly max: number };

/** What a benchmark prints as its last line of JSON. */
export interface BenchResult {
  readonly bench: string;
  /** Units stand in the names. */
  readonly figures: Readonly<Record<string, number>>;
  readonly targets: Readonly<Record<string, Target>>;
  readonly met: boolean;
}

/** Judges figures by their targets; a target without a figure is not met. */
export function judge(
  bench: string,
  figures: Readonly<Record<string, number>>,
  targets: Readonly<Record<string, Target>>,
): BenchResult {
  const met = Object.entries(targets).every(([name, target]) => {
    const figure = figures[name];
    if (figure === undefined) return false;
    return "min" in target ? figure >= target.min : figure <= target.max;
  });
  return { bench, figures, targets, met };
}

/** The value below which `share` (0 to 1) of the sorted values lie. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  if (value === undefined) throw new RangeError("There is no value to take a percentile of");
  return value;
}
