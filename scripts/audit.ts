/** `deno task audit`: looks every locked npm package up in the advisories of the registry. */
import { CommandError, runCommand } from "./cli/run_command.ts";
import { FULL_LOCK } from "./locks/lock_files.ts";
import { PROJECT_ROOT } from "./project_root.ts";
import { green, red, writeLine } from "./terminal.ts";

/** Together they have every package of functions, commands, console, client and tests. */
const LOCKS = [FULL_LOCK, "console/deno.lock"];

await runCommand(
  {
    name: "deno task audit",
    summary: "Looks the npm packages of the lock files up in the registry's advisories. " +
      "Exit code: 0 if there is none, 1 if there are some, 2 if the registry cannot say.",
    options: {},
  },
  async () => {
    const isFree: boolean[] = [];
    for (const lock of LOCKS) isFree.push(await isWithoutAdvisory(lock));
    return isFree.every(Boolean) ? 0 : 1;
  },
  2,
);

/**
 * Prints the advisories for packages of a lock file, with severity and address.
 *
 * @throws CommandError if the registry does not answer, or has no advisories, as many mirrors.
 */
async function isWithoutAdvisory(lock: string): Promise<boolean> {
  const output = await new Deno.Command(Deno.execPath(), {
    args: ["audit", `--lock=${lock}`],
    cwd: PROJECT_ROOT,
    env: { NO_COLOR: "1" },
  }).output();
  const [stdout, stderr] = [output.stdout, output.stderr]
    .map((bytes) => new TextDecoder().decode(bytes).trim());
  if (stdout === "" || (!output.success && stderr !== "")) {
    throw new CommandError(
      `Cannot look up the packages of ${lock}: ${
        stderr?.split("\n")[0]?.replace("error: ", "")
      }. ` +
        "NPM_CONFIG_REGISTRY must name a registry that serves advisories, such as npm's own.",
    );
  }
  writeLine(`${output.success ? green("ok") : red("failed")} ${lock}`);
  writeLine(stdout);
  return output.success;
}
