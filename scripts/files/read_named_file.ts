import { CommandError } from "../cli/run_command.ts";

/**
 * The text of a file that the user named or that the project must have.
 *
 * @throws CommandError if it does not exist, is a folder, or may not be read.
 */
export async function readNamedFile(path: string, shown = path): Promise<string> {
  return await Deno.readTextFile(path).catch((cause) => {
    throw unreadable(shown, cause);
  });
}

/** The failure to read a path, which says what the user can check. */
export function unreadable(path: string, cause: unknown): CommandError {
  const problem = cause instanceof Deno.errors.NotFound
    ? "it does not exist"
    : cause instanceof Deno.errors.IsADirectory
    ? "it is a folder"
    : "it is not readable";
  return new CommandError(`Cannot read ${path}: ${problem}`, { cause });
}
