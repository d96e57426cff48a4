import { CommandError } from "../errors/command_error.ts";
import { uncommittedFiles } from "./git_tree.ts";

const MAX_NAMED = 5;

/** The folder of everything that the commands change. `npm install` has just changed others. */
const CHANGED_FOLDER = "supabase";

/**
 * Checks that `git diff supabase` will show the command's own changes and no others.
 *
 * @throws CommandError `TREE_DIRTY`
 */
export async function assertCleanTree(folder: string): Promise<void> {
  const files = await uncommittedFiles(folder, CHANGED_FOLDER) ?? [];
  if (files.length === 0) return;
  const more = files.length > MAX_NAMED ? ` and ${files.length - MAX_NAMED} more` : "";
  throw new CommandError(
    "TREE_DIRTY",
    `Nothing was changed: the folder ${CHANGED_FOLDER} has uncommitted files (${
      files.slice(0, MAX_NAMED).join(", ")
    }${more})`,
    "Commit or stash them, so that git shows what this command changes, or add --force.",
  );
}
