import { errorText } from "../../client/command/errors/explain_error.ts";
import { DENO_VERSION } from "../../client/command/programs/deno_version.ts";
import { compareVersions } from "../../client/compare_versions.ts";
import { red, writeError, writeLine } from "../terminal.ts";
import { Interruption } from "./end_of_run.ts";
import {
  type CommandOption,
  type CommandSpec,
  type CommandValues,
  readCommandLine,
} from "./command_line.ts";

/** The input of a command's body. */
export interface CommandInput<Options extends Record<string, CommandOption>> {
  readonly values: CommandValues<Options>;
  readonly positionals: readonly string[];
}

/** A failure that one line explains, without a stack: a busy port, a missing binary. */
export class CommandError extends Error {
  override readonly name = "CommandError";
}

/**
 * Runs a command and ends the process: with the exit code that `main` returns, or 0; that of an
 * {@linkcode Interruption}; 1 when it throws something else (its error on stderr, with the stack
 * when `SUPASWARM_DEBUG` is set), 2 when the arguments cannot be read.
 *
 * @param failureCode Exit code when `main` throws. @default 1
 */
export async function runCommand<const Options extends Record<string, CommandOption>>(
  spec: CommandSpec<Options>,
  main: (input: CommandInput<Options>) => Promise<number | void>,
  failureCode = 1,
): Promise<never> {
  const line = readCommandLine(spec, Deno.args);
  switch (line.kind) {
    case "help":
      writeLine(line.text);
      return Deno.exit(0);
    case "refused":
      writeError(`${red("error", Deno.stderr)}: ${line.message}`);
      return Deno.exit(2);
    case "run":
      try {
        assertDenoVersion(Deno.version.deno);
        const code = await main({ values: line.values, positionals: line.positionals });
        return Deno.exit(code ?? 0);
      } catch (error) {
        if (error instanceof Interruption) return Deno.exit(error.exitCode);
        const text = errorText(error, Boolean(Deno.env.get("SUPASWARM_DEBUG")));
        writeError(`${red("error", Deno.stderr)}: ${text}`);
        return Deno.exit(failureCode);
      }
  }
}

/** @throws CommandError for a Deno that is older than the one that the commands are tested with. */
export function assertDenoVersion(version: string): void {
  if (compareVersions(version, DENO_VERSION) >= 0) return;
  throw new CommandError(
    `Cannot run with Deno ${version}: SupaSwarm needs ${DENO_VERSION} or newer. Run deno upgrade, ` +
      `or write npx -y deno@${DENO_VERSION} instead of deno`,
  );
}
