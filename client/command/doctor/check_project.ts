import { changedFiles, type Manifest, MODULES_PATH } from "../project/manifest.ts";
import { parseConfig, type Project } from "../project/project.ts";
import type { Release } from "../release/release.ts";
import { supabaseCommand } from "../supabase_cli.ts";
import { type Check, nothingIn } from "./check.ts";

/** Checks the files of an installation. */
export async function checkProject(
  project: Project,
  manifest: Manifest,
  release: Release,
): Promise<Check[]> {
  const { api, functions = {} } = parseConfig(project.config ?? "");
  const names = Object.values(manifest.functions);
  return [
    {
      claim: `The project has release ${release.version}, as this command`,
      problem: manifest.version === release.version ? null : `it has ${manifest.version}`,
      remedy: "Run npx supaswarm upgrade.",
    },
    nothingIn(
      "No installed file was edited",
      await changedFiles(project.root, manifest.files),
      `Restore them with git, or run npx supaswarm upgrade --force. ${MODULES_PATH} is generated.`,
    ),
    {
      claim: `The REST API exposes the schema ${manifest.schema}`,
      problem: api?.schemas?.includes(manifest.schema) === false
        ? `[api] schemas of supabase/config.toml has ${api.schemas.join(", ")}`
        : null,
      remedy:
        `Add it there; on a hosted project run ${
          supabaseCommand("config push")
        }, or add it under ` +
        "Project Settings, Data API.",
    },
    nothingIn(
      "Every function is configured",
      names.filter((name) => !(name in functions)),
      "Add [functions.<name>] with verify_jwt = false to supabase/config.toml.",
    ),
  ];
}
