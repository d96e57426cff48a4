import { writeProgress } from "../terminal.ts";
import { rounded, type Spread, spreadOf } from "./bench_result.ts";

/** Measures one thing once; answers one number for each name, in the names' units. */
export type Measure = (round: number) => Promise<Readonly<Record<string, number>>>;

/** What each system gave in each round: `values[system][round][name]`. */
export interface Rounds {
  readonly values: Readonly<Record<string, readonly Readonly<Record<string, number>>[]>>;
}

/** How rounds are run. */
export interface RoundOptions {
  readonly bench: string;
  readonly count: number;
  /** Runs before each measurement: empties, vacuums. */
  readonly before?: () => Promise<unknown>;
}

/**
 * Measures all systems in turn, and that again: A B C, B C A, C A B. What disturbs the machine for
 * a while then disturbs all of them, and none always runs first.
 */
export async function runRounds(
  systems: Readonly<Record<string, Measure>>,
  { bench, count, before }: RoundOptions,
): Promise<Rounds> {
  const names = Object.keys(systems);
  const values: Record<string, Record<string, number>[]> = {};
  for (let round = 0; round < count; round++) {
    const first = round % names.length;
    for (const name of [...names.slice(first), ...names.slice(0, first)]) {
      writeProgress(`${bench}: round ${round + 1} of ${count}, ${name}`);
      await before?.();
      const measured = await systems[name]?.(round);
      (values[name] ??= []).push({ ...measured });
    }
  }
  return { values };
}

/** What a system gave for a name in each round. */
export function seriesOf({ values }: Rounds, system: string, name: string): number[] {
  return (values[system] ?? []).map((measured) => {
    const value = measured[name];
    if (value === undefined) throw new RangeError(`${system} has not measured ${name}`);
    return value;
  });
}

/** Median and range of a system's values. */
export function spreadIn(rounds: Rounds, system: string, name: string): Spread {
  return roundedSpread(spreadOf(seriesOf(rounds, system, name)));
}

/** Median and range of the ratios within each round: both sides of one saw the same machine. */
export function ratioIn(rounds: Rounds, name: string, system: string, peer: string): Spread {
  const peers = seriesOf(rounds, peer, name);
  const ratios = seriesOf(rounds, system, name).map((value, round) =>
    value / (peers[round] ?? Number.NaN)
  );
  return roundedSpread(spreadOf(ratios));
}

function roundedSpread({ median, low, high }: Spread): Spread {
  return { median: rounded(median), low: rounded(low), high: rounded(high) };
}

/** The medians of spreads, as figures. */
export function mediansOf(spreads: Readonly<Record<string, Spread>>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(spreads).map(([name, { median }]) => [name, median]),
  );
}
