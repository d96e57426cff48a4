import { rm } from "node:fs/promises";
import { join } from "node:path";
import { CommandError } from "./command_error.ts";
import { useDatabase } from "./connect.ts";
import { applyPatch, parsePatch, reversePatch } from "./deps.ts";
import { withdrawConfig } from "./install/config_edit.ts";
import { assertCleanTree } from "./project/assert_clean_tree.ts";
import { installedManifest } from "./project/installed_manifest.ts";
import { runningDatabase } from "./project/running_database.ts";
import { DATA_FOLDER } from "./programs/write_programs.ts";
import { applyChanges, type FileChange } from "./project/file_changes.ts";
import { changedFiles, hashOf, type Manifest, MANIFEST_PATH } from "./project/manifest.ts";
import { CONFIG_PATH, type Project, readProject } from "./project/project.ts";
import { readRelease } from "./release/release.ts";
import { removalSql } from "./removal/removal_sql.ts";
import { confirm, heading, print } from "./terminal.ts";

/** Options of `supaswarm remove`. */
export interface RemoveOptions {
  readonly root: string;
  readonly dryRun: boolean;
  readonly yes: boolean;
  readonly force: boolean;
  readonly keepsData: boolean;
  /** URL of a database from which to remove the platform, too. */
  readonly db: string | null;
}

/** Removes what `init` and `upgrade` have added, from the folder and from a database. */
export async function remove(
  { root, dryRun, yes, force, keepsData, db }: RemoveOptions,
): Promise<void> {
  const manifest = await installedManifest(root, "remove SupaSwarm");
  const edited = await changedFiles(root, manifest);
  const changes = planRemoval(await readProject(root), manifest, keepsData);
  heading(`Remove SupaSwarm ${manifest.version}`);
  print(`${changes.filter(({ text }) => text === null).length} files to delete`);
  for (const path of edited) print(`  edited or missing: ${path}`);
  const sql = keepsData ? null : removalSql(manifest, (await readRelease()).objects);
  if (sql !== null && db === null) print(`\nSQL to run on each database:\n\n${sql}`);
  if (dryRun) return print("\nNothing was changed (--dry-run).");
  if (!force) await assertCleanTree(root);
  if (!force) assertUnedited(edited);
  if (!force && !keepsData) await assertNotRunning(root);
  if (!yes) await confirm(db === null ? "Delete the files?" : "Delete the files and all data?");
  if (sql !== null && db !== null) {
    await useDatabase(db, (connection) => connection.unsafe(sql).simple());
  }
  await applyChanges(root, changes);
  if (!keepsData) await rm(join(root, DATA_FOLDER), { recursive: true, force: true });
  print(`Removed SupaSwarm from this folder${sql !== null && db !== null ? " and database" : ""}.`);
}

function assertUnedited(edited: readonly string[]): void {
  if (edited.length === 0) return;
  throw new CommandError(
    "FILES_EDITED",
    `Nothing was changed: ${edited.length} files of SupaSwarm were edited or are missing`,
    "Save your edits elsewhere and add --force to delete the files.",
  );
}

async function assertNotRunning(root: string): Promise<void> {
  if (await runningDatabase(root) === undefined) return;
  throw new CommandError(
    "DEV_RUNNING",
    `Nothing was changed: supaswarm dev runs in this folder, and its data in ${DATA_FOLDER} would be deleted`,
    "Stop it first. Add --force if it no longer runs.",
  );
}

/** The files to delete, and the configuration without the platform. */
export function planRemoval(
  { config }: Project,
  manifest: Manifest,
  keepsData: boolean,
): FileChange[] {
  const kept = new Set(keepsData ? manifest.migrations : []);
  const files = [...Object.keys(manifest.files), MANIFEST_PATH]
    .filter((path) => !kept.has(path))
    .map((path) => ({ path, text: null }));
  return config === null ? files : [...files, configRemoval(config, manifest)];
}

function configRemoval(config: string, manifest: Manifest): FileChange {
  const { configPatch, configHash, schema, functions } = manifest;
  if (configPatch === null && hashOf(config) === configHash) {
    return { path: CONFIG_PATH, text: null };
  }
  const [patch] = configPatch === null ? [] : parsePatch(configPatch);
  const reverted = patch === undefined ? false : applyPatch(config, reversePatch(patch));
  return {
    path: CONFIG_PATH,
    text: reverted === false ? withdrawConfig(config, schema, Object.values(functions)) : reverted,
  };
}
