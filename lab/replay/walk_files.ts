import { join } from "node:path";

/** The files of a folder and its subfolders, in order of their names. */
export async function* walkFiles(folder: string): AsyncGenerator<string> {
  const entries = await Array.fromAsync(Deno.readDir(folder));
  for (
    const { name, isDirectory, isFile } of entries.sort((a, b) => a.name.localeCompare(b.name))
  ) {
    const path = join(folder, name);
    if (isDirectory) yield* walkFiles(path);
    else if (isFile) yield path;
  }
}
