import { rm } from "node:fs/promises";
import { join } from "node:path";
import { CommandError } from "./errors/command_error.ts";
import { readDatabaseUrl } from "./database/database_url.ts";
import { useInstalledDatabase } from "./database/use_database.ts";
import { applyPatch, parsePatch, reversePatch } from "./deps.ts";
import { withdrawConfig } from "./install/config_edit.ts";
import { assertNoLinks } from "./project/assert_no_links.ts";
import { assertCleanTree } from "./project/assert_clean_tree.ts";
import { installedManifest } from "./project/installed_manifest.ts";
import { applyChanges, type FileChange } from "./project/file_changes.ts";
import {
  assertWhole,
  changedFiles,
  hashOf,
  type Manifest,
  MANIFEST_PATH,
} from "./project/manifest.ts";
import { CONFIG_PATH, type Project, readProject } from "./project/project.ts";
import { exists } from "./project/read_files.ts";
import { DATA_FOLDER, runningStack } from "./project/running_stack.ts";
import { readRelease } from "./release/release.ts";
import { removalSql } from "./removal/removal_sql.ts";
import { confirm, counted, heading, print } from "./terminal.ts";

/** Options of `supaswarm remove`. */
export interface RemoveOptions {
  readonly root: string;
  readonly dryRun: boolean;
  readonly yes: boolean;
  readonly force: boolean;
  readonly keepsData: boolean;
  /** URL of a database from which to remove the platform, too. */
  readonly db: string | undefined;
}

/** Removes what `init` and `upgrade` have added, from the folder and from a database. */
export async function remove(
  { root, dryRun, yes, force, keepsData, db: given }: RemoveOptions,
): Promise<void> {
  const db = given === undefined ? null : readDatabaseUrl(given, "--db");
  const manifest = await installedManifest(root, "remove SupaSwarm");
  assertWhole(manifest);
  const edited = await changedFiles(root, manifest.files);
  const kept = await changedStarter(root, manifest);
  const changes = planRemoval(await readProject(root), manifest, { keepsData, kept });
  // Also before the database is changed.
  await assertNoLinks(root, changes.map(({ path }) => path));
  if (!force && !dryRun) await assertCleanTree(root);
  heading(`Remove SupaSwarm ${manifest.version}`);
  print(`${counted(changes.filter(({ text }) => text === null).length, "file")} to delete`);
  for (const path of edited) print(`  edited or missing: ${path}`);
  for (const path of kept) print(`  stays, because you changed it: ${path}`);
  const sql = keepsData ? null : removalSql(manifest, (await readRelease()).objects);
  if (sql !== null && db === null) print(`\nSQL to run on each database:\n\n${sql}`);
  if (dryRun) return print("\nNothing was changed (--dry-run).");
  if (!force) assertUnedited(edited);
  if (!force && !keepsData) await assertNotRunning(root);
  if (!yes) await confirm(db === null ? "Delete the files?" : "Delete the files and all data?");
  if (sql !== null && db !== null) {
    await useInstalledDatabase(
      db,
      manifest.schema,
      (connection) => connection.unsafe(sql).simple(),
    );
  }
  await applyChanges(root, changes);
  if (!keepsData) await rm(join(root, DATA_FOLDER), { recursive: true, force: true });
  print(`Removed SupaSwarm from this folder${sql !== null && db !== null ? " and database" : ""}.`);
}

/** Files of the first agent that the project has made its own. */
async function changedStarter(root: string, { starter }: Manifest): Promise<string[]> {
  const changed = await changedFiles(root, starter);
  const present = await Promise.all(changed.map((path) => exists(join(root, path))));
  return changed.filter((_, place) => present[place]);
}

function assertUnedited(edited: readonly string[]): void {
  if (edited.length === 0) return;
  throw new CommandError(
    "FILES_EDITED",
    `Nothing was changed, because you edited or deleted ${
      counted(edited.length, "file")
    } of SupaSwarm`,
    "Save your edits elsewhere and add --force to delete the files.",
  );
}

async function assertNotRunning(root: string): Promise<void> {
  if (await runningStack(join(root, DATA_FOLDER)) === null) return;
  throw new CommandError(
    "DEV_RUNNING",
    `Nothing was changed: supaswarm dev runs in this folder, and its data in ${DATA_FOLDER} would be deleted`,
    "Stop it first.",
  );
}

/** The files to delete, and the configuration without the platform. */
function planRemoval(
  { config }: Project,
  manifest: Manifest,
  { keepsData, kept }: { readonly keepsData: boolean; readonly kept: readonly string[] },
): FileChange[] {
  const staying = new Set([...keepsData ? manifest.migrations : [], ...kept]);
  const files = [...Object.keys(manifest.files), ...Object.keys(manifest.starter), MANIFEST_PATH]
    .filter((path) => !staying.has(path))
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
