import { formatCount } from "../../format/numbers.ts";

/** How the failures of a group have changed. */
export interface FailureTrend {
  readonly text: string;
  readonly look: "good" | "bad" | "";
}

/**
 * Compares the second half of some days with the first.
 *
 * @param days an even number of UTC days, oldest first.
 * @param counts failures by day; days without failures may be missing.
 */
export function trendOf(
  days: readonly string[],
  counts: Readonly<Record<string, number>>,
): FailureTrend {
  const half = days.length / 2;
  const sum = (some: readonly string[]) => some.reduce((all, day) => all + (counts[day] ?? 0), 0);
  const before = sum(days.slice(0, half));
  const now = sum(days.slice(half));
  if (now === 0) return { text: `none for ${half} days`, look: "good" };
  if (before === 0) return { text: "new", look: "bad" };
  const change = now - before;
  if (change === 0) return { text: "unchanged", look: "" };
  return {
    text: `${change > 0 ? "+" : "−"}${formatCount(Math.abs(change))} in ${half} days`,
    look: change > 0 ? "bad" : "good",
  };
}
