import { basename, dirname, join, resolve } from "node:path";
import { assertNoLinks } from "../../client/command/project/assert_no_links.ts";
import { CommandError } from "../cli/run_command.ts";

/** A file of the project that an import makes. */
export interface ImportedFile {
  /** In the folder of definitions. */
  readonly path: string;
  /** What it was made from. */
  readonly source: string;
  readonly text: string;
  /** Parts that have no meaning here. */
  readonly leftOut: readonly string[];
  /** What was changed, or not read as it is written. */
  readonly notes: readonly string[];
}

/** A part of the source that could not be imported. */
export interface RefusedPart {
  /** The file and the line, or the operation. */
  readonly at: string;
  readonly problem: string;
}

/** What an import makes of its source. */
export interface ImportPlan {
  readonly files: readonly ImportedFile[];
  readonly refused: readonly RefusedPart[];
  /** Files that are of another kind. */
  readonly ignored: readonly string[];
}

/** A file of a plan, and what became of it. */
export interface WrittenFile extends ImportedFile {
  readonly change: "created" | "replaced" | "unchanged";
}

/** How a plan is written. */
export interface WriteOptions {
  readonly folder: string;
  readonly isDryRun: boolean;
  /** Replaces files with different contents. */
  readonly isForced: boolean;
}

/**
 * Writes the files of a plan. A file that exists with different contents stays, and is refused,
 * unless the import is forced.
 *
 * @throws CommandError if nothing can be imported, or would be written outside of the folder
 */
export async function writeImport(
  plan: ImportPlan,
  { folder, isDryRun, isForced }: WriteOptions,
): Promise<ImportPlan & { readonly written: readonly WrittenFile[] }> {
  if (plan.files.length === 0 && plan.refused.length === 0) {
    throw new CommandError("Cannot import: the source contains nothing that can be imported");
  }
  const root = resolve(folder);
  await assertNoLinks(dirname(root), plan.files.map(({ path }) => join(basename(root), path)));
  const written: WrittenFile[] = [];
  const refused = [...plan.refused];
  for (const file of plan.files) {
    const target = join(folder, file.path);
    const before = await readExisting(target);
    if (before !== null && before !== file.text && !isForced) {
      const problem =
        `${target} already exists with different contents; pass --force to replace it`;
      refused.push({ at: file.source, problem });
      continue;
    }
    const change = before === null ? "created" : before === file.text ? "unchanged" : "replaced";
    written.push({ ...file, change });
    if (isDryRun || change === "unchanged") continue;
    await Deno.mkdir(dirname(target), { recursive: true });
    await Deno.writeTextFile(target, file.text);
  }
  return { ...plan, refused, written };
}

/** The text of a file; null if there is none. @throws CommandError for a folder */
async function readExisting(path: string): Promise<string | null> {
  const info = await Deno.lstat(path).catch((error) => {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  });
  if (info === null) return null;
  if (info.isFile) return await Deno.readTextFile(path);
  throw new CommandError(`Cannot write ${path}: a folder has that name. Remove it`);
}
