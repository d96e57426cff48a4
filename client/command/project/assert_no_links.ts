import { lstat } from "node:fs/promises";
import { isAbsolute, join, normalize, sep } from "node:path";
import { CommandError } from "../errors/command_error.ts";

/**
 * Checks that each path is in the project's folder, and that no folder on the way nor the file is a
 * link: what it leads to may be another's.
 *
 * @param paths From the project's folder.
 * @throws CommandError `PATH_OUTSIDE`
 */
export async function assertNoLinks(root: string, paths: Iterable<string>): Promise<void> {
  const checked = new Set<string>();
  for (const path of paths) {
    const steps = normalize(path).split(sep);
    if (isAbsolute(path) || steps.includes("..")) {
      throw outside(`${path} is not in this folder`);
    }
    for (let count = 1; count <= steps.length; count++) {
      const step = steps.slice(0, count).join("/");
      if (checked.has(step)) continue;
      checked.add(step);
      const info = await lstat(join(root, step)).catch((error: NodeJS.ErrnoException) => {
        if (error.code === "ENOENT" || error.code === "ENOTDIR") return null;
        throw error;
      });
      if (info?.isSymbolicLink()) throw outside(`${step} is a link`);
    }
  }
}

function outside(problem: string): CommandError {
  return new CommandError(
    "PATH_OUTSIDE",
    `Nothing was changed: ${problem}, and this command changes only files of the project itself`,
    "Replace the link by the folder or file that it leads to, or restore the manifest with git.",
  );
}
