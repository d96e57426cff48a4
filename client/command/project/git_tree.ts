import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);

/**
 * The files of `path` in a folder that differ from the last commit.
 *
 * @returns null when the folder is not in a git repository.
 */
export async function uncommittedFiles(
  folder: string,
  path: string,
): Promise<readonly string[] | null> {
  const status = ["status", "--porcelain", "--untracked-files=all", "--", path];
  try {
    const { stdout } = await run("git", status, { cwd: folder });
    return stdout.split("\n").filter((line) => line !== "").map((line) => line.slice(3));
  } catch {
    return null;
  }
}
