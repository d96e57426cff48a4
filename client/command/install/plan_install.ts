import { createTwoFilesPatch } from "../deps.ts";
import type { FileChange, NewFile } from "../project/file_changes.ts";
import { hashOf, type Manifest, MANIFEST_PATH, MODULES_PATH } from "../project/manifest.ts";
import { CONFIG_PATH, FUNCTIONS_PATH, type Project } from "../project/project.ts";
import { type ChosenNames, fillNames } from "../release/fill_names.ts";
import { migrationText } from "../release/migration_text.ts";
import type { Release } from "../release/release.ts";
import { editConfig } from "./config_edit.ts";
import { migrationPath } from "./migration_path.ts";

/** What an installation would write. */
export interface InstallPlan {
  readonly changes: readonly FileChange[];
  readonly manifest: Manifest;
}

/** The configuration of a folder that has none. */
const newConfig = (name: string) =>
  `# https://supabase.com/docs/guides/local-development/cli/config\nproject_id = "${
    name.toLowerCase().replaceAll(/[^a-z0-9-]+/g, "-").replaceAll(/^-+|-+$/g, "") || "project"
  }"\n\n[db]\nmajor_version = 17\n`;

/**
 * Plans the files of a release for a project that does not have it.
 *
 * @param starter Files that belong to the project from then on.
 */
export function planInstall(
  project: Project,
  release: Release,
  names: ChosenNames,
  starter: readonly NewFile[],
  now: Date = new Date(),
): InstallPlan {
  const migration = {
    path: migrationPath(project.migrations.keys(), release.version, now),
    text: migrationText(release.migrations, names),
  };
  const code = codeFiles(release, names);
  const config = editConfig(
    project.config ?? newConfig(project.name),
    names.schema,
    Object.values(names.functions),
  );
  const manifest: Manifest = {
    version: release.version,
    ...names,
    migrations: [migration.path],
    files: hashes([migration, ...code]),
    starter: hashes(starter),
    configHash: hashOf(config),
    configPatch: project.config === null
      ? null
      : createTwoFilesPatch(CONFIG_PATH, CONFIG_PATH, project.config, config),
  };
  return {
    manifest,
    changes: [
      migration,
      { path: CONFIG_PATH, text: config },
      ...code,
      ...starter,
      { path: MANIFEST_PATH, text: manifestText(manifest) },
    ],
  };
}

/** The text of a manifest's file. */
export function manifestText(manifest: Manifest): string {
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

/** The edge functions of a release: an entry for each, and the modules. */
export function codeFiles(
  { functions, modules }: Release,
  names: ChosenNames,
): { path: string; text: string }[] {
  const entries = functions.flatMap(({ name }) => {
    const folder = `${FUNCTIONS_PATH}/${names.functions[name]}`;
    return [
      { path: `${folder}/deno.json`, text: '{\n  "imports": {}\n}\n' },
      {
        path: `${folder}/index.ts`,
        text:
          `// Part of SupaSwarm. \`supaswarm upgrade\` replaces the modules of ../_supaswarm.\n` +
          `import "../_supaswarm/${name}.js";\n`,
      },
    ];
  });
  const built = [...modules].map(([name, text]) => ({
    path: `${MODULES_PATH}/${name}`,
    text: fillNames(text, names),
  }));
  return [...entries, ...built];
}

/** The hash of each file by its path. */
export function hashes(files: readonly { path: string; text: string }[]): Record<string, string> {
  return Object.fromEntries(files.map(({ path, text }) => [path, hashOf(text)]));
}
