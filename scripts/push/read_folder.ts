import { join } from "node:path";
import type { DefinitionFile } from "../../shared/engine/definitions/definition.ts";
import { MAX_FILE_BYTES, MAX_FILE_COUNT } from "../skills/archive_limits.ts";
import { CommandError } from "../cli/run_command.ts";

/**
 * Reads all files of a folder of definitions; paths are relative to it. Does not follow links.
 *
 * @throws CommandError when the folder does not exist, or has more or larger files than definitions
 * have.
 */
export async function readFolder(root: string): Promise<readonly DefinitionFile[]> {
  const files: DefinitionFile[] = [];

  async function walk(relative: string): Promise<void> {
    for await (const entry of Deno.readDir(join(root, relative))) {
      const path = relative === "" ? entry.name : `${relative}/${entry.name}`;
      if (entry.isDirectory && !entry.name.startsWith(".")) await walk(path);
      if (!entry.isFile) continue;
      const { size } = await Deno.lstat(join(root, path));
      if (files.length >= MAX_FILE_COUNT || size > MAX_FILE_BYTES) {
        throw new CommandError(
          `Cannot read ${root}: ${path} is too large, or there are too many files`,
        );
      }
      files.push({ path, bytes: await Deno.readFile(join(root, path)) });
    }
  }

  try {
    await walk("");
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    throw new CommandError(
      `Cannot read ${root}: there is no such folder. Create it with an agent, such as writer.md, or ` +
        "write the registry into it with deno task pull",
      { cause: error },
    );
  }
  return files.sort((a, b) => a.path < b.path ? -1 : 1);
}
