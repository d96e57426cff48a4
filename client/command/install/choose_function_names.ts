import { CommandError } from "../errors/command_error.ts";
import type { ReleaseFunction } from "../release/release.ts";

const PREFIX = "supaswarm-";

/**
 * The project's name of each function: its own, or with a prefix where the project has a function
 * of that name.
 *
 * @param taken Names of the project's own functions.
 * @throws CommandError `NAME_TAKEN`
 */
export function chooseFunctionNames(
  functions: readonly ReleaseFunction[],
  taken: ReadonlySet<string>,
): Record<string, string> {
  return Object.fromEntries(functions.map(({ name, isRenamable }) => {
    const chosen = isRenamable && taken.has(name) ? `${PREFIX}${name}` : name;
    if (!taken.has(chosen)) return [name, chosen];
    throw new CommandError(
      "NAME_TAKEN",
      `Cannot add SupaSwarm: this project already has a function ${chosen}`,
      `Rename supabase/functions/${chosen} and its section in supabase/config.toml first.`,
    );
  }));
}
