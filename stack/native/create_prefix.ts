import { dirname, relative } from "node:path";
import { SwarmError } from "../../shared/platform/errors/swarm_error.ts";
import {
  placeExtensions,
  type PrefixStamp,
  readPrefixStamp,
  writePrefixStamp,
} from "./native_prefix.ts";
import { exists, type PostgresInstallation } from "./postgres_installation.ts";

/** Programs that find their prefix from their own path. A link would lead back to the system. */
const COPIED_PROGRAMS = ["postgres", "initdb", "pg_ctl"];

/** Extensions in C that a migration may create, as on the hosted platform. */
const TRUSTED_EXTENSIONS = ["vector", "plpgsql_check"];

/** A pgvector that was built outside the installation. */
export interface BuiltPgvector {
  readonly moduleDir: string;
  readonly extensionDir: string;
}

/**
 * Creates a private prefix: links to the machine's Postgres, with a separate folder of extensions.
 *
 * Postgres finds its files relative to its program. Three copied programs at the same relative
 * paths therefore make a server that reads the stack's extensions and changes no system folder.
 *
 * @throws SwarmError `CONFIG_INVALID` when `path` holds something other than an earlier prefix.
 */
export async function createPrefix(
  path: string,
  installation: PostgresInstallation,
  pgvector: BuiltPgvector | null,
): Promise<void> {
  await requireReplaceable(path);
  const root = commonFolder([installation.binDir, installation.shareDir, installation.moduleDir]);
  const unfinished = `${path}.unfinished`;
  const inPrefix = (folder: string) => `${unfinished}/${relative(root, folder)}`;
  const binDir = inPrefix(installation.binDir);
  const extensionDir = `${inPrefix(installation.shareDir)}/extension`;
  await removeIfPresent(unfinished);
  for (const folder of [binDir, extensionDir, inPrefix(installation.moduleDir)]) {
    await Deno.mkdir(folder, { recursive: true, mode: 0o755 });
  }
  for (const program of COPIED_PROGRAMS) {
    await Deno.copyFile(`${installation.binDir}/${program}`, `${binDir}/${program}`);
  }
  await linkEntries(installation.moduleDir, inPrefix(installation.moduleDir));
  await linkEntries(installation.shareDir, inPrefix(installation.shareDir));
  await linkEntries(`${installation.shareDir}/extension`, extensionDir);
  if (pgvector !== null) {
    await copyEntries(pgvector.moduleDir, inPrefix(installation.moduleDir), /^vector\.(so|dylib)$/);
    await copyEntries(pgvector.extensionDir, extensionDir, /^vector(--.*\.sql|\.control)$/);
  }
  for (const name of TRUSTED_EXTENSIONS) await trustExtension(`${extensionDir}/${name}.control`);
  await placeExtensions(extensionDir);
  await writePrefixStamp(unfinished, stampFor(installation, root));
  await removeIfPresent(path);
  await Deno.rename(unfinished, path);
}

/** Refuses to replace a folder that is not an earlier prefix, such as a home folder. */
async function requireReplaceable(path: string): Promise<void> {
  if (!await exists(path) || await readPrefixStamp(path) !== null) return;
  throw new SwarmError(
    "CONFIG_INVALID",
    `Cannot install into ${path}: it was not made by SupaSwarm`,
    {
      hint: "Set SUPASWARM_NATIVE_PREFIX to a folder that does not exist yet.",
    },
  );
}

/** Whether `path` holds a complete prefix of this installation. */
export async function isPrefixCurrent(
  path: string,
  installation: PostgresInstallation,
): Promise<boolean> {
  const stamp = await readPrefixStamp(path);
  return stamp?.source === sourceOf(installation);
}

function stampFor(installation: PostgresInstallation, root: string): PrefixStamp {
  return {
    major: installation.major,
    bin_dir: relative(root, installation.binDir),
    extension_dir: `${relative(root, installation.shareDir)}/extension`,
    source: sourceOf(installation),
  };
}

function sourceOf({ version, binDir, shareDir, moduleDir }: PostgresInstallation): string {
  return [version, binDir, shareDir, moduleDir].join(" | ");
}

/** Returns the deepest folder that contains all of `paths`. */
function commonFolder(paths: readonly [string, ...string[]]): string {
  let folder = dirname(paths[0]);
  while (!paths.every((path) => path.startsWith(`${folder}/`))) {
    if (folder === "/" || folder === ".") {
      throw new SwarmError("CONFIG_INVALID", `Cannot relocate Postgres: ${paths.join(", ")}`, {
        hint: "Its folders must lie under one common folder.",
      });
    }
    folder = dirname(folder);
  }
  return folder;
}

async function linkEntries(from: string, to: string): Promise<void> {
  for await (const entry of Deno.readDir(from)) {
    if (!await exists(`${to}/${entry.name}`)) {
      await Deno.symlink(`${from}/${entry.name}`, `${to}/${entry.name}`);
    }
  }
}

async function copyEntries(from: string, to: string, names: RegExp): Promise<void> {
  for await (const entry of Deno.readDir(from)) {
    if (names.test(entry.name)) {
      await Deno.copyFile(`${from}/${entry.name}`, `${to}/${entry.name}`);
    }
  }
}

async function trustExtension(controlPath: string): Promise<void> {
  if (!await exists(controlPath)) return;
  const control = await Deno.readTextFile(controlPath);
  await Deno.remove(controlPath);
  await Deno.writeTextFile(controlPath, `${control.trimEnd()}\ntrusted = true\n`);
}

async function removeIfPresent(path: string): Promise<void> {
  if (await exists(path)) await Deno.remove(path, { recursive: true });
}
