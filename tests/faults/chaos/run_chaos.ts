/** `deno task chaos`: seeded faults on real workers and a real Postgres. */
import { surviveStrayErrors } from "../../../shared/isolate/survive_stray_errors.ts";
import { runCommand } from "../../../scripts/cli/run_command.ts";
import { writeLine } from "../../../scripts/terminal.ts";
import { runChaos } from "./chaos_run.ts";

await runCommand(
  {
    name: "deno task chaos",
    summary: "Runs jobs on workers that are killed, frozen and cut off, and checks the result.",
    options: {
      seed: { type: "string", placeholder: "N", help: "Determines the faults. Default: 1." },
      masters: { type: "string", placeholder: "N", help: "Jobs of eight tasks. Default: 60." },
      json: { type: "boolean", help: "Prints one line of JSON." },
      verbose: { type: "boolean", help: "Shows the warnings of the workers." },
    },
  },
  async ({ values }) => {
    // The Postgres client throws an uncatchable error when its server dies.
    surviveStrayErrors(() => {});
    const { violations, figures, failures } = await runChaos({
      seed: readCount("seed", values.seed ?? "1"),
      masters: readCount("masters", values.masters ?? "60"),
      isVerbose: values.verbose,
    });
    if (values.json) writeLine(JSON.stringify({ figures, violations, failures }));
    else {
      writeTable(figures);
      writeLine();
      writeTable(violations);
      for (const failure of failures) writeLine(failure);
    }
    const broken = Object.entries(violations).filter(([, count]) => count > 0);
    if (broken.length > 0) {
      throw new Error(`The run broke these invariants: ${broken.map(([name]) => name).join(", ")}`);
    }
  },
);

function readCount(flag: string, text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new Error(
    `Cannot use --${flag}=${JSON.stringify(text)}: it must be a whole number of at least 1`,
  );
}

function writeTable(rows: Readonly<Record<string, number>>): void {
  for (const [name, figure] of Object.entries(rows)) {
    writeLine(`${name.replaceAll("_", " ").padEnd(38)} ${String(figure).padStart(8)}`);
  }
}
