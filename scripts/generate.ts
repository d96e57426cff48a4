/** `deno task generate`: writes the files that are made from others. */
import { CommandError, runCommand } from "./cli/run_command.ts";
import { staleFiles, writeStale } from "./generate/generated_files.ts";
import { GENERATORS } from "./generate/generators.ts";
import { writeLine } from "./terminal.ts";

const NAMES = Object.keys(GENERATORS).join(", ");

await runCommand(
  {
    name: "deno task generate",
    summary: `Writes what is generated, all of it or some of ${NAMES}.`,
    options: {
      check: { type: "boolean", help: "Write nothing; fail if a file is not up to date." },
    },
    positionals: "[name …]",
  },
  async ({ values, positionals }) => {
    const unknown = positionals.find((name) => !Object.hasOwn(GENERATORS, name));
    if (unknown !== undefined) throw new CommandError(`Cannot generate ${unknown}: use ${NAMES}`);
    const stale: string[] = [];
    for (const [name, generate] of Object.entries(GENERATORS)) {
      if (positionals.length > 0 && !positionals.includes(name)) continue;
      const files = await generate();
      if (values.check) stale.push(...await staleFiles(files));
      else for (const path of await writeStale(files)) writeLine(`Wrote ${path}`);
    }
    if (stale.length > 0) {
      throw new CommandError(`${stale.join(", ")} are out of date. Run deno task generate`);
    }
  },
);
