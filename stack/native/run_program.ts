import { definedOnly } from "../../shared/platform/values/defined_only.ts";
import { SwarmError } from "../../shared/platform/errors/swarm_error.ts";

/** Options of {@linkcode tryProgram} and {@linkcode runProgram}. */
export interface ProgramOptions {
  readonly cwd?: string;
  /** Added to the environment. */
  readonly env?: Readonly<Record<string, string>>;
}

/** The result of a program. */
export interface ProgramResult {
  readonly ok: boolean;
  readonly stdout: string;
  /** Both streams, for an error message. */
  readonly output: string;
}

/**
 * Runs a program to its end and returns its output, for any exit code.
 *
 * @throws SwarmError `CONFIG_INVALID` when the program is not installed.
 */
export async function tryProgram(
  command: readonly [string, ...string[]],
  options: ProgramOptions = {},
): Promise<ProgramResult> {
  const [program, ...args] = command;
  try {
    const { success, stdout, stderr } = await new Deno.Command(program, {
      args,
      stdin: "null",
      env: { LC_ALL: "C", ...options.env },
      ...definedOnly({ cwd: options.cwd }),
    }).output();
    const decoder = new TextDecoder();
    const text = decoder.decode(stdout);
    return { ok: success, stdout: text.trim(), output: `${text}${decoder.decode(stderr)}`.trim() };
  } catch (cause) {
    if (!(cause instanceof Deno.errors.NotFound)) throw cause;
    throw new SwarmError("CONFIG_INVALID", `Cannot run '${program}': it is not installed`, {
      cause,
    });
  }
}

/**
 * Runs a program to its end and returns its standard output without surrounding blanks.
 *
 * @throws SwarmError `CONFIG_INVALID` when the program is not installed, or when it fails, with the
 * last lines of its output.
 */
export async function runProgram(
  command: readonly [string, ...string[]],
  options: ProgramOptions = {},
): Promise<string> {
  const result = await tryProgram(command, options);
  if (result.ok) return result.stdout;
  throw new SwarmError("CONFIG_INVALID", `'${command.join(" ")}' failed: ${tail(result.output)}`);
}

function tail(output: string): string {
  return output.split("\n").slice(-5).join(" | ");
}
