import { createHash } from "node:crypto";
import { join } from "node:path";
import { CommandError } from "../errors/command_error.ts";
import { manifestProblem, missingPart } from "./check_manifest.ts";
import type { ChosenNames } from "../release/fill_names.ts";
import { FUNCTIONS_PATH } from "./project.ts";
import { readOptional } from "./read_files.ts";

/** What an installation has written, for upgrades and removal. */
export interface Manifest extends ChosenNames {
  readonly version: string;
  /** Paths of the migrations, oldest first. */
  readonly migrations: readonly string[];
  /** SHA-256 of each written file by its path; without the manifest. */
  readonly files: Readonly<Record<string, string>>;
  /** SHA-256 of each file of the first agent by its path. They are the project's to change. */
  readonly starter: Readonly<Record<string, string>>;
  /** The change of `supabase/config.toml` as a unified diff; null if the file was created. */
  readonly configPatch: string | null;
  /** SHA-256 of `supabase/config.toml` after the change. */
  readonly configHash: string;
}

/** Folder of the platform's built modules. */
export const MODULES_PATH = `${FUNCTIONS_PATH}/_supaswarm`;
export const MANIFEST_PATH = `${MODULES_PATH}/manifest.json`;

/**
 * The manifest of a project; null if the platform is not installed.
 *
 * @throws CommandError `MANIFEST_INVALID`
 */
export async function readManifest(root: string): Promise<Manifest | null> {
  const text = await readOptional(join(root, MANIFEST_PATH));
  if (text === null) return null;
  const manifest = parseManifest(text);
  const problem = manifestProblem(manifest);
  if (problem !== null) throw invalidManifest(`: ${problem}`);
  const whole = manifest as Manifest;
  return { ...whole, starter: whole.starter ?? {}, configPatch: whole.configPatch ?? null };
}

/** @throws CommandError `MANIFEST_INVALID` if it does not say what is installed. */
export function assertWhole(manifest: Manifest): void {
  const part = missingPart(manifest);
  if (part !== null) throw invalidManifest(`: it has no ${part}`);
}

function parseManifest(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's message would quote the file.
    throw invalidManifest("");
  }
}

function invalidManifest(problem: string): CommandError {
  return new CommandError(
    "MANIFEST_INVALID",
    `Cannot read ${MANIFEST_PATH}: it is not the JSON that supaswarm init has written${problem}`,
    "Restore it with git.",
  );
}

/** The hash of a file's text, as a manifest has it. */
export function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Those of the files that differ from what an installation wrote, or are missing. */
export async function changedFiles(
  root: string,
  files: Readonly<Record<string, string>>,
): Promise<string[]> {
  const changed = await Promise.all(
    Object.entries(files).map(async ([path, hash]) => {
      const text = await readOptional(join(root, path));
      return text !== null && hashOf(text) === hash ? [] : [path];
    }),
  );
  return changed.flat().sort();
}
