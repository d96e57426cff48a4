/** `deno task chaos`: seeded faults on real workers and a real Postgres. */
import { surviveStrayErrors } from "../../../shared/platform/isolate/survive_stray_errors.ts";
import { runCommand } from "../../../scripts/cli/run_command.ts";
import { writeLine } from "../../../scripts/terminal.ts";
import { runChaos } from "./chaos_run.ts";
import type { Verdict } from "./verdict.ts";

await runCommand(
  {
    name: "deno task chaos",
    summary: "Runs jobs on workers that are killed, frozen and cut off, and checks the result.",
    options: {
      seed: {
        type: "string",
        placeholder: "N,…",
        help: "Determines the faults. Several seeds run one after the other. Default: 1.",
      },
      masters: { type: "string", placeholder: "N", help: "Jobs of eight tasks. Default: 60." },
      beside: {
        type: "string",
        placeholder: "COMMIT",
        help: "Each worker runs, at random, this commit or the current sources.",
      },
      json: { type: "boolean", help: "Prints one line of JSON per seed." },
      verbose: { type: "boolean", help: "Shows the warnings of the workers." },
    },
  },
  async ({ values }) => {
    // The Postgres client throws an uncatchable error when its server dies.
    surviveStrayErrors(() => {});
    const seeds = (values.seed ?? "1").split(",").map((seed) => readCount("seed", seed));
    const masters = readCount("masters", values.masters ?? "60");
    const broken: string[] = [];
    for (const seed of seeds) {
      const { verbose, beside } = values;
      const verdict = await runChaos({ seed, masters, isVerbose: verbose, beside });
      if (values.json) writeLine(JSON.stringify(verdict));
      else writeVerdict(verdict);
      const names = Object.entries(verdict.violations).filter(([, count]) => count > 0);
      broken.push(...names.map(([name]) => `${name} (seed ${seed})`));
    }
    if (broken.length > 0) {
      throw new Error(`The run broke these invariants: ${broken.join(", ")}`);
    }
  },
);

function readCount(flag: string, text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new Error(
    `Cannot use --${flag}=${JSON.stringify(text)}: it must be a whole number of at least 1`,
  );
}

function writeVerdict({ violations, figures, failures }: Verdict): void {
  writeTable(figures);
  writeLine();
  writeTable(violations);
  for (const failure of failures) writeLine(failure);
}

function writeTable(rows: Readonly<Record<string, number>>): void {
  for (const [name, figure] of Object.entries(rows)) {
    writeLine(`${name.replaceAll("_", " ").padEnd(38)} ${String(figure).padStart(8)}`);
  }
}
