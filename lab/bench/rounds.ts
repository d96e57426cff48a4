import { writeProgress } from "../../scripts/terminal.ts";
import { rounded, type Spread, spreadOf } from "./bench_result.ts";

/** Measures once and returns one number for each name, in the unit of the name. */
export type Measure = (round: number) => Promise<Readonly<Record<string, number>>>;

/** The values of each system in each round: `values[system][round][name]`. */
export interface Rounds {
  readonly values: Readonly<Record<string, readonly Readonly<Record<string, number>>[]>>;
}

interface RoundOptions {
  readonly bench: string;
  readonly count: number;
  /** Runs before each measurement, for example to delete data and vacuum. */
  readonly before?: () => Promise<unknown>;
}

/**
 * Measures all systems in turn, in several rounds: A B C, B C A, C A B. A temporary disturbance of
 * the machine then affects all of them, and no system always runs first.
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

/** Returns the values of a system for a name, one per round. */
function seriesOf({ values }: Rounds, system: string, name: string): number[] {
  return (values[system] ?? []).map((measured) => {
    const value = measured[name];
    if (value === undefined) {
      throw new RangeError(`Cannot read ${name}: ${system} did not measure it`);
    }
    return value;
  });
}

/** Returns median and range of a system's values. */
export function spreadIn(rounds: Rounds, system: string, name: string): Spread {
  return roundedSpread(spreadOf(seriesOf(rounds, system, name)));
}

/**
 * Returns median and range of the ratios within rounds, so that both sides had the same machine.
 */
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

/** Returns the medians of spreads as figures. */
export function mediansOf(spreads: Readonly<Record<string, Spread>>): Record<string, number> {
  return Object.fromEntries(Object.entries(spreads).map(([name, { median }]) => [name, median]));
}
