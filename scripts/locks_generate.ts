/** `deno task locks:generate`: writes the lock file of the commands from the full one. */
import { join } from "node:path";
import { runCommand } from "./cli/run_command.ts";
import { commandsLock } from "./locks/commands_lock.ts";
import { COMMANDS_LOCK, FULL_LOCK } from "./locks/lock_files.ts";
import { PROJECT_ROOT } from "./project_root.ts";
import { writeLine } from "./terminal.ts";

/** They pin every package of the commands. */
const PINS = ["client/command/deps.ts", "scripts/deps.ts", "stack/deps.ts"];

await runCommand(
  {
    name: "deno task locks:generate",
    summary: `Writes ${COMMANDS_LOCK}, the packages of what users run, from ${FULL_LOCK}, which ` +
      "tests and checks extend when an import is new.",
    options: {
      check: { type: "boolean", help: "Write nothing; fail if the file is not up to date." },
    },
  },
  async ({ values }) => {
    const read = (path: string) => Deno.readTextFile(join(PROJECT_ROOT, path));
    const wanted = commandsLock(await read(FULL_LOCK), await Promise.all(PINS.map(read)));
    if (await read(COMMANDS_LOCK).catch(() => "") === wanted) return;
    if (values.check) {
      throw new Error(
        `${COMMANDS_LOCK} is not the part of ${FULL_LOCK} that ${
          PINS.join(", ")
        } import. Deno adds ` +
          `what it meets unless a command has --lock=${FULL_LOCK}. Run deno task locks:generate`,
      );
    }
    await Deno.writeTextFile(join(PROJECT_ROOT, COMMANDS_LOCK), wanted);
    writeLine(`Wrote ${COMMANDS_LOCK}`);
  },
);
