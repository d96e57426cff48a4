/**
 * `deno task model`: compares the queue on native Postgres with a model of it, in random programs
 * over several sessions, and prints the first program in which they differ.
 */
import { CommandError, runCommand } from "../scripts/cli/run_command.ts";
import { writeLine, writeProgress } from "../scripts/terminal.ts";
import { startMigratedServer } from "../tests/postgres/native_server.ts";
import { compareWithNative, prepareComparisons } from "./model/compare_with_native.ts";

const DEFAULT_STEPS = 250;
const MAX_SEED = 1_000_000_000;

await runCommand(
  {
    name: "deno task model",
    summary: "Compares the queue on native Postgres with a model of it, in random programs.",
    options: {
      seed: { type: "string", placeholder: "N", help: "Run the program of one seed." },
      minutes: {
        type: "string",
        placeholder: "M",
        help: "Run new programs for M minutes. Default: 1.",
      },
      steps: {
        type: "string",
        placeholder: "N",
        help: `Calls, ends of transactions and reads of a program. Default: ${DEFAULT_STEPS}.`,
      },
    },
  },
  async ({ values }) => {
    const steps = positive("steps", values.steps ?? String(DEFAULT_STEPS));
    const untilMs = performance.now() + 60_000 * positive("minutes", values.minutes ?? "1");
    await using server = await startMigratedServer();
    const { cluster: { url }, sql, admin } = server;
    await prepareComparisons(sql);
    let count = 0;
    let committed = 0;
    let waited = 0;
    do {
      const seed = values.seed === undefined
        ? Math.floor(Math.random() * MAX_SEED)
        : positive("seed", values.seed);
      const run = await compareWithNative({ url, sql, admin, seed, steps });
      if (run.difference !== null) {
        for (const line of run.trace) writeLine(line);
        throw new CommandError(
          `The database differs from the model with seed ${seed}: ${run.difference}`,
        );
      }
      count++;
      committed += run.committed;
      waited += run.waited;
      writeProgress(`${count} programs`);
    } while (values.seed === undefined && performance.now() < untilMs);
    writeLine(
      `${count} programs without a difference: ${committed} calls committed, ${waited} waited`,
    );
  },
);

function positive(option: string, text: string): number {
  const number = Number(text);
  if (number > 0) return number;
  throw new CommandError(`Cannot compare: --${option} must be above 0, but is "${text}"`);
}
