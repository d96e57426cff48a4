import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "../../shared/vendor/zod.js";
import { SwarmError } from "../../shared/platform/errors/swarm_error.ts";
import { platformExtensions } from "../platform/platform_files.ts";

/**
 * A folder with the machine's Postgres, its extensions and the stack's; see {@linkcode
 * createPrefix}.
 */
export interface NativePrefix {
  readonly path: string;
  /** Major version of the server, for example 15. */
  readonly major: number;
  /** Folder of `postgres`, `initdb` and `pg_ctl`. */
  readonly binDir: string;
  /** Folder in which the server looks for control and SQL files of extensions. */
  readonly extensionDir: string;
}

/** The stamp file. The installer writes it last, so a prefix with a stamp is complete. */
const stampSchema = z.object({
  major: z.number().int(),
  bin_dir: z.string(),
  extension_dir: z.string(),
  /** The installation that the prefix was made from. If it differs, the prefix is created again. */
  source: z.string(),
});

/** The contents of the installer's stamp. Folders are relative to the prefix. */
export type PrefixStamp = z.infer<typeof stampSchema>;

const INSTALLER = "deno task native:install";
const STAMP_NAME = "supaswarm_native.json";

/** Returns `SUPASWARM_NATIVE_PREFIX`, or `.supaswarm/native/prefix` of the project. */
export function defaultPrefixPath(): string {
  return Deno.env.get("SUPASWARM_NATIVE_PREFIX") ||
    fileURLToPath(new URL("../../.supaswarm/native/prefix", import.meta.url));
}

/**
 * Finds the installed prefix at `path`.
 *
 * @throws SwarmError `CONFIG_INVALID` with the installer's command when there is no prefix.
 */
export async function findNativePrefix(path: string = defaultPrefixPath()): Promise<NativePrefix> {
  const stamp = await readPrefixStamp(path);
  if (stamp === null) {
    throw new SwarmError(
      "CONFIG_INVALID",
      `Cannot start native Postgres: none is set up at ${path}`,
      {
        hint:
          `Run in a clone of SupaSwarm: ${INSTALLER}. Elsewhere, set SUPASWARM_NATIVE_PREFIX to ` +
          "the folder that it prints.",
      },
    );
  }
  return {
    path: resolve(path),
    major: stamp.major,
    binDir: resolve(path, stamp.bin_dir),
    extensionDir: resolve(path, stamp.extension_dir),
  };
}

/** Reads the stamp of a complete prefix. Returns null when there is none. */
export async function readPrefixStamp(path: string): Promise<PrefixStamp | null> {
  try {
    const stamp = JSON.parse(await Deno.readTextFile(`${path}/${STAMP_NAME}`));
    return stampSchema.safeParse(stamp).data ?? null;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof SyntaxError) return null;
    throw error;
  }
}

/** Marks the prefix as complete. */
export async function writePrefixStamp(path: string, stamp: PrefixStamp): Promise<void> {
  await Deno.writeTextFile(`${path}/${STAMP_NAME}`, `${JSON.stringify(stamp, null, 2)}\n`);
}

/**
 * Copies the stack's extensions into the prefix, where they replace the machine's extensions of the
 * same name. Skips files that are up to date, so a read-only prefix works too.
 *
 * @throws SwarmError `CONFIG_INVALID` when files are outdated and cannot be written.
 */
export async function placeExtensions(extensionDir: string): Promise<void> {
  for (const extension of await platformExtensions()) {
    for (const file of extension.files) {
      await placeFile(`${extensionDir}/${file.name}`, file.content);
    }
  }
}

async function placeFile(path: string, content: string): Promise<void> {
  try {
    if (await Deno.readTextFile(path) === content) return;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  try {
    // Write a new file and rename it: this replaces a link instead of writing into a system folder.
    await Deno.writeTextFile(`${path}.new`, content);
    await Deno.rename(`${path}.new`, path);
  } catch (cause) {
    throw new SwarmError("CONFIG_INVALID", `Cannot update the extension file ${path}`, {
      hint: `Run as the owner of that folder: ${INSTALLER}`,
      cause,
    });
  }
}
