/** Statistics of pass counts. */

/** How many of the jobs of a test passed. */
export interface PassCount {
  readonly passed: number;
  readonly total: number;
}

/** Quantile of the normal distribution for two-sided 95 %. */
const Z = 1.959963984540054;
/** Probabilities this much larger still count as equal, because they were computed differently. */
const RELATIVE_ERROR = 1e-7;
const MAX_REPEATS = 1_000;

/** The Wilson score interval of a pass rate at 95 %. Without jobs it is everything. */
export function wilsonInterval(
  { passed, total }: PassCount,
): { readonly low: number; readonly high: number } {
  if (total === 0) return { low: 0, high: 1 };
  const rate = passed / total;
  const scale = 1 + Z * Z / total;
  const center = (rate + Z * Z / (2 * total)) / scale;
  const margin = Z * Math.sqrt(rate * (1 - rate) / total + Z * Z / (4 * total * total)) / scale;
  return { low: Math.max(0, center - margin), high: Math.min(1, center + margin) };
}

/** The two-sided p-value of Fisher's exact test: how likely equal rates differ at least as much. */
export function fisherExact(first: PassCount, second: PassCount): number {
  const passed = first.passed + second.passed;
  const all = first.total + second.total;
  const chanceOf = (passedFirst: number) =>
    Math.exp(
      logChoose(first.total, passedFirst) + logChoose(second.total, passed - passedFirst) -
        logChoose(all, passed),
    );
  const limit = chanceOf(first.passed) * (1 + RELATIVE_ERROR);
  let sum = 0;
  const last = Math.min(first.total, passed);
  for (let count = Math.max(0, passed - second.total); count <= last; count++) {
    const chance = chanceOf(count);
    if (chance <= limit) sum += chance;
  }
  return Math.min(1, sum);
}

/** P-values of several tests, adjusted by Holm's method, in the same order. */
export function holmAdjusted(values: readonly number[]): number[] {
  const order = values.map((value, index) => ({ value, index }))
    .sort((a, b) => a.value - b.value);
  const adjusted = new Array<number>(values.length);
  let highest = 0;
  for (const [rank, { value, index }] of order.entries()) {
    highest = Math.max(highest, Math.min(1, value * (values.length - rank)));
    adjusted[index] = highest;
  }
  return adjusted;
}

/**
 * How many jobs each run needs so that a difference of these rates is significant at `alpha`. Null
 * if the rates are equal, or if a thousand are not enough.
 */
export function neededRepeats(first: PassCount, second: PassCount, alpha: number): number | null {
  const rates = [first, second].map(({ passed, total }) => total === 0 ? 0 : passed / total);
  if (rates[0] === rates[1]) return null;
  for (let total = 1; total <= MAX_REPEATS; total++) {
    const [a, b] = rates.map((rate) => ({ passed: Math.round(rate * total), total }));
    if (a !== undefined && b !== undefined && fisherExact(a, b) < alpha) return total;
  }
  return null;
}

const logFactorials = [0];

function logChoose(total: number, chosen: number): number {
  return logFactorial(total) - logFactorial(chosen) - logFactorial(total - chosen);
}

function logFactorial(value: number): number {
  for (let next = logFactorials.length; next <= value; next++) {
    logFactorials.push((logFactorials[next - 1] ?? 0) + Math.log(next));
  }
  return logFactorials[value] ?? 0;
}
