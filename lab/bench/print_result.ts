import { bold, dim, green, red, writeLine } from "../../scripts/terminal.ts";
import { type BenchResult, meets, type Target } from "./bench_result.ts";

/** Prints a result as a table: figures, targets, and the range of the rounds. */
export function printResult({ bench, figures, targets, met, details = {} }: BenchResult): void {
  const { spreads = {}, versions = {}, notes = [] } = details;
  const names = Object.keys({ ...figures, ...targets });
  const width = Math.max(...names.map((name) => name.length));
  writeLine();
  writeLine(`${bold(bench)}  ${met ? green("met") : red("missed")}`);
  for (const name of names) {
    const spread = spreads[name];
    const target = targets[name];
    const range = spread === undefined ? "" : dim(`[${spread.low} to ${spread.high}]`);
    const verdict = target === undefined ? "" : verdictOn(figures[name], target);
    writeLine(
      ["", name.padEnd(width), String(figures[name] ?? "not measured").padStart(9), range, verdict]
        .join("  ").trimEnd(),
    );
  }
  for (const [name, version] of Object.entries(versions)) writeLine(dim(`  ${name} ${version}`));
  for (const note of notes) writeLine(`  ${note}`);
}

/** Describes a target as text. */
export function describeTarget(target: Target): string {
  return "min" in target ? `at least ${target.min}` : `at most ${target.max}`;
}

function verdictOn(figure: number | undefined, target: Target): string {
  const text = describeTarget(target);
  return meets(figure, target) ? green(text) : red(`${text}: missed`);
}
