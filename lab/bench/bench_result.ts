/** The target of a figure. */
export type Target = { readonly min: number } | { readonly max: number };

/** Median, lowest and highest value of all rounds. */
export interface Spread {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

/** Details for readers. No program relies on them. */
export interface BenchDetails {
  /** The range of the rounds, by the name of the figure. */
  readonly spreads?: Readonly<Record<string, Spread>>;
  /** Versions of the measured software: `{ postgres: "15.18", "graphile-worker": "0.17.3" }`. */
  readonly versions?: Readonly<Record<string, string>>;
  /** Full sentences: what was measured and, for a missed target, why it is missed. */
  readonly notes?: readonly string[];
}

/** The result of a benchmark. The last line of JSON has everything except the details. */
export interface BenchResult {
  readonly bench: string;
  /** Units are in the names. */
  readonly figures: Readonly<Record<string, number>>;
  readonly targets: Readonly<Record<string, Target>>;
  readonly met: boolean;
  readonly details?: BenchDetails;
}

/** Compares figures with their targets. A target without a figure is missed. */
export function judge(
  bench: string,
  figures: Readonly<Record<string, number>>,
  targets: Readonly<Record<string, Target>>,
  details: BenchDetails = {},
): BenchResult {
  const met = Object.entries(targets).every(([name, target]) => meets(figures[name], target));
  return { bench, figures, targets, met, details };
}

/** Whether the figure exists and is at or better than its target. */
export function meets(figure: number | undefined, target: Target): boolean {
  if (figure === undefined) return false;
  return "min" in target ? figure >= target.min : figure <= target.max;
}

/** Returns the value below which `share` (0 to 1) of the values are. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  if (value === undefined) throw new RangeError("Cannot compute a percentile: there are no values");
  return value;
}

/** Returns the middle value, or the mean of the two middle values. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.ceil(sorted.length / 2) - 1];
  if (upper === undefined || lower === undefined) {
    throw new RangeError("Cannot compute a median: there are no values");
  }
  return (lower + upper) / 2;
}

/** Returns median, lowest and highest value of the rounds. */
export function spreadOf(values: readonly number[]): Spread {
  return { median: median(values), low: Math.min(...values), high: Math.max(...values) };
}

/** Rounds to three significant digits, which is more than the precision of a shared machine. */
export function rounded(value: number): number {
  return Math.abs(value) >= 1_000 ? Math.round(value) : Number(value.toPrecision(3));
}
