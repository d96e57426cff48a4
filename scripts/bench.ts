/** `deno task bench <name>`: measures the platform and judges the figures by their targets. */
import { benchPickup } from "./bench/pickup.ts";
import type { BenchResult } from "./bench/bench_result.ts";
import { runCommand } from "./cli/run_command.ts";
import { green, red, writeLine } from "./terminal.ts";

const BENCHES: Readonly<Record<string, (db: string) => Promise<BenchResult>>> = {
  pickup: benchPickup,
};

await runCommand(
  {
    name: "deno task bench",
    summary: `Runs a benchmark: ${Object.keys(BENCHES).join(", ")}.`,
    options: {
      db: { type: "string", placeholder: "pglite|native|URL", help: "Database. Default: pglite." },
      json: { type: "boolean", help: "Prints one line of JSON." },
    },
    positionals: "<name>",
  },
  async ({ values, positionals }) => {
    const name = positionals[0] ?? "";
    const bench = Object.hasOwn(BENCHES, name) ? BENCHES[name] : undefined;
    if (bench === undefined) {
      throw new Error(
        `There is no benchmark '${name}'; there is ${Object.keys(BENCHES).join(", ")}`,
      );
    }
    const result = await bench(values.db ?? "pglite");
    if (values.json) return writeLine(JSON.stringify(result));
    for (const [figure, value] of Object.entries(result.figures)) {
      const target = result.targets[figure];
      writeLine(
        `${figure.padEnd(16)} ${value}${target === undefined ? "" : ` ${JSON.stringify(target)}`}`,
      );
    }
    writeLine(result.met ? green("met") : red("missed"));
  },
);
