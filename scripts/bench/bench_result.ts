/** A bound that a figure is measured against. */
export type Target = { readonly min: number } | { readonly max: number };

/** The measurements of all rounds: the median, the lowest and the highest. */
export interface Spread {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

/** Details for people; no program relies on them. */
export interface BenchDetails {
  /** How far the rounds lie apart, by the name of what was measured. */
  readonly spreads?: Readonly<Record<string, Spread>>;
  /** What ran, such as `{ postgres: "15.18", "graphile-worker": "0.17.3" }`. */
  readonly versions?: Readonly<Record<string, string>>;
  /** Whole sentences: what was done and, where a target is missed, why. */
  readonly notes?: readonly string[];
}

/** What a benchmark prints as its last line of JSON, and the details that it does not print there. */
export interface BenchResult {
  readonly bench: string;
  /** Units are in the names. */
  readonly figures: Readonly<Record<string, number>>;
  readonly targets: Readonly<Record<string, Target>>;
  readonly met: boolean;
  readonly details?: BenchDetails;
}

/** Compares figures with their targets; a target without a figure is not met. */
export function judge(
  bench: string,
  figures: Readonly<Record<string, number>>,
  targets: Readonly<Record<string, Target>>,
  details: BenchDetails = {},
): BenchResult {
  const met = Object.entries(targets).every(([name, target]) => meets(figures[name], target));
  return { bench, figures, targets, met, details };
}

/** True when the figure exists and lies at the bound or on its good side. */
export function meets(figure: number | undefined, target: Target): boolean {
  if (figure === undefined) return false;
  return "min" in target ? figure >= target.min : figure <= target.max;
}

/** The value below which `share` (0 to 1) of the sorted values lie. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  if (value === undefined) throw new RangeError("There is no value to take a percentile of");
  return value;
}

/** The value in the middle, or the mean of the two there. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.ceil(sorted.length / 2) - 1];
  if (upper === undefined || lower === undefined) {
    throw new RangeError("There is no value to take a median of");
  }
  return (lower + upper) / 2;
}

/** Median, lowest and highest of what the rounds gave. */
export function spreadOf(values: readonly number[]): Spread {
  return { median: median(values), low: Math.min(...values), high: Math.max(...values) };
}

/** Three significant digits are more than a shared machine can tell apart. */
export function rounded(value: number): number {
  return Math.abs(value) >= 1_000 ? Math.round(value) : Number(value.toPrecision(3));
}
