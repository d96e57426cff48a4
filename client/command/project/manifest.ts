import { createHash } from "node:crypto";
import { join } from "node:path";
import type { ChosenNames } from "../release/fill_names.ts";
import { FUNCTIONS_PATH, readOptional } from "./project.ts";

/** What an installation has written, for upgrades and removal. */
export interface Manifest extends ChosenNames {
  readonly version: string;
  /** Paths of the migrations, oldest first. */
  readonly migrations: readonly string[];
  /** SHA-256 of each written file by its path; without the manifest. */
  readonly files: Readonly<Record<string, string>>;
  /** The change of `supabase/config.toml` as a unified diff; null if the file was created. */
  readonly configPatch: string | null;
  /** SHA-256 of `supabase/config.toml` after the change. */
  readonly configHash: string;
}

/** Folder of the platform's built modules. */
export const MODULES_PATH = `${FUNCTIONS_PATH}/_supaswarm`;
export const MANIFEST_PATH = `${MODULES_PATH}/manifest.json`;

/** The manifest of a project; null if the platform is not installed. */
export async function readManifest(root: string): Promise<Manifest | null> {
  const text = await readOptional(join(root, MANIFEST_PATH));
  return text === null ? null : JSON.parse(text);
}

/** The hash of a file's text, as a manifest has it. */
export function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** The files of an installation that differ from what it wrote, or are missing. */
export async function changedFiles(root: string, manifest: Manifest): Promise<string[]> {
  const changed = await Promise.all(
    Object.entries(manifest.files).map(async ([path, hash]) => {
      const text = await readOptional(join(root, path));
      return text !== null && hashOf(text) === hash ? [] : [path];
    }),
  );
  return changed.flat().sort();
}
