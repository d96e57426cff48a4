import { CommandError } from "./errors/command_error.ts";
import { applyChanges } from "./project/file_changes.ts";
import { installedManifest } from "./project/installed_manifest.ts";
import { exists } from "./project/read_files.ts";
import { SCAFFOLDS } from "./scaffold/scaffolds.ts";
import { print, printColumns } from "./terminal.ts";
import { join } from "node:path";

/** Options of `supaswarm new`. */
export interface NewOptions {
  readonly root: string;
  readonly kind: string | undefined;
  readonly name: string | undefined;
  readonly dryRun: boolean;
}

/**
 * Adds an agent, a tool or a skill to the project: files that `push` takes as they are.
 *
 * @throws CommandError `NOT_INSTALLED`, `USAGE_INVALID`, `NAME_INVALID`, `NAME_TAKEN`
 */
export async function create({ root, kind, name, dryRun }: NewOptions): Promise<void> {
  const scaffold = Object.hasOwn(SCAFFOLDS, kind ?? "") ? SCAFFOLDS[kind ?? ""] : undefined;
  if (scaffold === undefined || name === undefined) {
    throw new CommandError(
      "USAGE_INVALID",
      kind === undefined || scaffold !== undefined
        ? "Cannot add anything: the command names no kind, or no name"
        : `Cannot add "${kind}": there is no such kind`,
      `Write supaswarm new ${Object.keys(SCAFFOLDS).join("|")} <name>.`,
    );
  }
  await installedManifest(root, `add the ${kind}`);
  if (!scaffold.pattern.test(name)) {
    throw new CommandError(
      "NAME_INVALID",
      `Cannot add the ${kind} "${name}": the name is not valid`,
      `Choose a name that has ${scaffold.rule}.`,
    );
  }
  const files = scaffold.files(name);
  for (const path of new Set([...scaffold.places(name), ...files.map(({ path }) => path)])) {
    if (!await exists(join(root, path))) continue;
    throw new CommandError(
      "NAME_TAKEN",
      `Cannot add the ${kind} "${name}": the project has ${path}`,
      "Choose another name, or change that file.",
    );
  }
  if (!dryRun) await applyChanges(root, files);
  for (const { path } of files) print(`${dryRun ? "would add" : "added"}  ${path}`);
  if (dryRun) return print("\nNothing was changed (--dry-run).");
  print("\nNext:");
  printColumns(scaffold.next(name));
}
