import { mkdir, readdir, rm, rmdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { assertNoLinks } from "./assert_no_links.ts";
import { readOptional } from "./read_files.ts";

/** A file to write, or to delete when the text is null. */
export interface FileChange {
  /** From the project's folder. */
  readonly path: string;
  readonly text: string | null;
}

/** A file to write. */
export interface NewFile extends FileChange {
  readonly text: string;
}

/**
 * Applies changes in their order, all or none: if one fails, the earlier ones are undone. Also deletes
 * folders that become empty.
 *
 * @throws CommandError `PATH_OUTSIDE` before anything is changed
 */
export async function applyChanges(root: string, changes: readonly FileChange[]): Promise<void> {
  await assertNoLinks(root, changes.map(({ path }) => path));
  const before: FileChange[] = [];
  try {
    for (const change of changes) {
      before.unshift({ path: change.path, text: await readOptional(join(root, change.path)) });
      await apply(root, change);
    }
  } catch (error) {
    // The error says what is wrong with the folder; what cannot be undone fails for the same reason.
    for (const change of before) await apply(root, change).catch(() => {});
    throw error;
  }
}

async function apply(root: string, { path, text }: FileChange): Promise<void> {
  const target = join(root, path);
  if (text === null) {
    await rm(target, { force: true });
    await removeEmptyFolders(root, dirname(path));
  } else {
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, text);
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
