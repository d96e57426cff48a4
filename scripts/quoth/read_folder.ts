import { join } from "node:path";
import { blobShaOf } from "../../shared/servers/quoth/github/blob_sha.ts";
import { isDocumentPath } from "../../shared/servers/quoth/sync/document_path.ts";
import { MAX_DOCUMENT_BYTES, readDocument } from "../../shared/servers/quoth/sync/read_document.ts";

/** A document in a folder. */
export interface FolderFile {
  /** Path relative to the folder, with `/` between its parts. */
  readonly path: string;
  /** Git's object id of the content. */
  readonly blobSha: string;
  readonly content: string;
}

/** The documents of a folder, and the files that cannot be documents. */
export interface FolderListing {
  readonly files: readonly FolderFile[];
  readonly skipped: readonly { readonly path: string; readonly reason: string }[];
}

/** Folders that are skipped even if the globs include them. */
const SKIPPED_FOLDERS: ReadonlySet<string> = new Set([".git", "node_modules"]);

/**
 * Reads the files of a folder that the filter includes, with Git's object ids of their contents.
 * Does not follow symbolic links. Skips files that are too large or not UTF-8 text.
 */
export async function readFolder(
  folder: string,
  isIncluded: (path: string) => boolean,
): Promise<FolderListing> {
  const files: FolderFile[] = [];
  const skipped: { path: string; reason: string }[] = [];
  for (const path of (await pathsIn(folder)).filter(isIncluded)) {
    try {
      files.push(await readFile(folder, path));
    } catch (error) {
      skipped.push({ path, reason: error instanceof Error ? error.message : String(error) });
    }
  }
  return { files, skipped };
}

async function pathsIn(folder: string, prefix = ""): Promise<string[]> {
  const paths: string[] = [];
  for await (const { name, isDirectory, isFile } of Deno.readDir(join(folder, prefix))) {
    if (isFile) paths.push(prefix + name);
    if (isDirectory && !SKIPPED_FOLDERS.has(name)) {
      paths.push(...await pathsIn(folder, `${prefix}${name}/`));
    }
  }
  return paths.sort();
}

async function readFile(folder: string, path: string): Promise<FolderFile> {
  if (!isDocumentPath(path)) throw new Error("its path cannot name a document");
  const { size } = await Deno.stat(join(folder, path));
  if (size > MAX_DOCUMENT_BYTES) throw new Error(`it has more than ${MAX_DOCUMENT_BYTES} bytes`);
  const bytes = await Deno.readFile(join(folder, path));
  return { path, blobSha: await blobShaOf(bytes), content: readDocument(bytes) };
}
