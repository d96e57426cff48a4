import { mkdir, readdir, rm, rmdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/** A file to write, or to delete when the text is null. */
export interface FileChange {
  /** From the project's folder. */
  readonly path: string;
  readonly text: string | null;
}

/** Applies changes in their order. Also deletes folders that become empty. */
export async function applyChanges(root: string, changes: readonly FileChange[]): Promise<void> {
  for (const { path, text } of changes) {
    const target = join(root, path);
    if (text === null) {
      await rm(target, { force: true });
      await removeEmptyFolders(root, dirname(path));
    } else {
      await mkdir(dirname(target), { recursive: true });
      await writeFile(target, text);
    }
  }
}

async function removeEmptyFolders(root: string, folder: string): Promise<void> {
  for (let path = folder; path !== "."; path = dirname(path)) {
    const entries = await readdir(join(root, path)).catch(() => null);
    if (entries === null) continue;
    if (entries.length > 0) return;
    await rmdir(join(root, path));
  }
}
