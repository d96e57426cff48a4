import { join } from "node:path";
import { CommandError } from "./errors/command_error.ts";
import { createTwoFilesPatch } from "./deps.ts";
import { migrationPath } from "./install/migration_path.ts";
import { codeFiles, hashes, manifestText } from "./install/plan_install.ts";
import { assertNoLinks } from "./project/assert_no_links.ts";
import { assertCleanTree } from "./project/assert_clean_tree.ts";
import { applyChanges, type FileChange } from "./project/file_changes.ts";
import {
  assertWhole,
  changedFiles,
  type Manifest,
  MANIFEST_PATH,
  MODULES_PATH,
} from "./project/manifest.ts";
import { installedManifest } from "./project/installed_manifest.ts";
import { type Project, readProject } from "./project/project.ts";
import { readOptional } from "./project/read_files.ts";
import { compareVersions } from "../compare_versions.ts";
import { fillNames } from "./release/fill_names.ts";
import { readRelease, type Release } from "./release/release.ts";
import { confirm, counted, heading, print, printDiff } from "./terminal.ts";

/** Options of `supaswarm upgrade`. */
export interface UpgradeOptions {
  readonly root: string;
  readonly dryRun: boolean;
  readonly yes: boolean;
  readonly force: boolean;
}

/** Replaces the code of an installation by this release's, and adds the newer migrations. */
export async function upgrade({ root, dryRun, yes, force }: UpgradeOptions): Promise<void> {
  const manifest = await installedManifest(root, "upgrade SupaSwarm");
  assertWhole(manifest);
  const release = await readRelease();
  assertNotOlder(manifest, release);
  const changes = await planUpgrade(await readProject(root), manifest, release);
  if (changes.length === 0) {
    return print(`SupaSwarm ${release.version} is installed. Nothing to change.`);
  }
  const edited = (await changedFiles(root, manifest.files)).filter((path) =>
    changes.some((change) => change.path === path)
  );
  await assertNoLinks(root, changes.map(({ path }) => path));
  if (!force && !dryRun) await assertCleanTree(root);
  heading(`SupaSwarm ${manifest.version} → ${release.version}`);
  for (const path of summarize(changes)) print(`  ${path}`);
  for (const path of edited) await showEdit(root, path, changes);
  if (dryRun) return print("\nNothing was changed (--dry-run).");
  if (!force) assertUnedited(edited);
  if (!yes) await confirm("Write these files?");
  await applyChanges(root, changes);
  print(
    `\nUpgraded to SupaSwarm ${release.version}. Push the database before you deploy the functions.`,
  );
}

function assertNotOlder(manifest: Manifest, release: Release): void {
  if (compareVersions(release.version, manifest.version) >= 0) return;
  throw new CommandError(
    "VERSION_OLDER",
    `Cannot upgrade SupaSwarm ${manifest.version} to ${release.version}, which is older`,
    "Run npx supaswarm@latest upgrade.",
  );
}

function assertUnedited(edited: readonly string[]): void {
  if (edited.length === 0) return;
  throw new CommandError(
    "FILES_EDITED",
    `Nothing was changed, because you edited ${
      counted(edited.length, "file")
    } that the upgrade replaces`,
    "Save your edits elsewhere and add --force to replace the files.",
  );
}

/** The files that an upgrade adds, replaces and deletes. */
async function planUpgrade(
  project: Project,
  manifest: Manifest,
  release: Release,
): Promise<FileChange[]> {
  const known = [...project.migrations.keys()];
  const migrations = release.migrations
    .filter(({ version }) => compareVersions(version, manifest.version) > 0)
    .map(({ version, sql }) => {
      const path = migrationPath(known, version);
      known.push(path);
      return { path, text: fillNames(sql, manifest) };
    });
  const code = codeFiles(release, manifest);
  const written = [...migrations, ...code];
  const kept = manifest.migrations.flatMap((path) => {
    const hash = manifest.files[path];
    return hash === undefined ? [] : [[path, hash] as const];
  });
  const next: Manifest = {
    ...manifest,
    version: release.version,
    migrations: [...manifest.migrations, ...migrations.map(({ path }) => path)],
    files: { ...Object.fromEntries(kept), ...hashes(written) },
  };
  const obsolete = Object.keys(manifest.files).filter((path) => !(path in next.files));
  const changes = [
    ...written,
    ...obsolete.map((path) => ({ path, text: null })),
    { path: MANIFEST_PATH, text: manifestText(next) },
  ];
  const current = await Promise.all(
    changes.map(({ path }) => readOptional(join(project.root, path))),
  );
  return changes.filter(({ text }, place) => current[place] !== text);
}

function summarize(changes: readonly FileChange[]): string[] {
  const isModule = ({ path }: FileChange) => path.startsWith(`${MODULES_PATH}/`);
  const others = changes.filter((change) => !isModule(change)).map(({ path }) => path);
  return [...others, `${MODULES_PATH}/ (${counted(changes.filter(isModule).length, "file")})`];
}

/** Shows what the upgrade would change in a file that the project has edited. */
async function showEdit(
  root: string,
  path: string,
  changes: readonly FileChange[],
): Promise<void> {
  const text = await readOptional(join(root, path)) ?? "";
  const wanted = changes.find((change) => change.path === path)?.text ?? "";
  print(`\n${path} was edited. The upgrade changes it:`);
  printDiff(createTwoFilesPatch("", "", text, wanted, "", "", { context: 1 }));
}
