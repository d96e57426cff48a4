import { dirname, join } from "node:path";
import { bundleExtension } from "../platform/extension_bundle.ts";
import { platformExtensions, platformHash, platformSql } from "../platform/platform_files.ts";
import type { ExtensionBundle } from "./child_protocol.ts";
import { contentHash } from "./content_hash.ts";
import type { Logger } from "./database_port.ts";
import { preparePgliteFolder } from "./pglite_process.ts";
import { copySnapshot, type SnapshotOptions } from "./snapshot.ts";

const DEPENDENCIES = new URL("../deps.ts", import.meta.url);

/** What a PGlite data folder is made from. */
export interface PgliteFolderOptions {
  readonly cacheDir: string;
  readonly log: Logger;
}

/**
 * Names everything that decides what a fresh data folder holds: the platform's SQL and extensions
 * and the versions of PGlite and its packages.
 */
export async function pgliteFolderKey(): Promise<string> {
  const dependencies = await Deno.readTextFile(DEPENDENCIES);
  const versions = dependencies.match(/npm:@electric-sql\/[^"]+/g) ?? [];
  const text = [await platformHash(), ...versions.toSorted()].join("\n");
  return (await contentHash(text)).slice(0, 16);
}

/** The snapshot of a data folder in which the platform's SQL has run and nothing else. */
export async function platformSnapshot(
  bundles: readonly ExtensionBundle[],
  options: PgliteFolderOptions,
): Promise<SnapshotOptions> {
  return {
    ...options,
    key: await pgliteFolderKey(),
    build: async (dataDir) =>
      await preparePgliteFolder({ dataDir, bundles, sql: await platformSql(), log: options.log }),
  };
}

/**
 * Makes the data folder when it is missing. A folder of a stack of another version is kept as it
 * is, with a warning: its platform parts are older or newer than the code.
 */
export async function ensurePgliteFolder(
  dataDir: string,
  snapshot: SnapshotOptions,
): Promise<void> {
  const keyFile = `${dataDir}.key`;
  const isThere = await Deno.stat(dataDir).then(() => true, () => false);
  if (!isThere) {
    await Deno.mkdir(dirname(dataDir), { recursive: true });
    await copySnapshot(snapshot, dataDir);
    return await Deno.writeTextFile(keyFile, snapshot.key);
  }
  const madeWith = await Deno.readTextFile(keyFile).catch(() => "");
  if (madeWith !== snapshot.key) {
    snapshot.log("warn", "database.folder_of_other_version", { data_dir: dataDir });
  }
}

/** Writes our extensions as bundles into the cache, unless they are there, and names them. */
export async function writeBundles(cacheDir: string): Promise<ExtensionBundle[]> {
  const folder = join(cacheDir, `extensions-${(await platformHash()).slice(0, 16)}`);
  await Deno.mkdir(folder, { recursive: true });
  return await Promise.all((await platformExtensions()).map(async ({ name, files }) => {
    const path = join(folder, `${name}.tar.gz`);
    const draft = `${path}.${crypto.randomUUID()}`;
    await Deno.writeFile(draft, await bundleExtension(name, files));
    await Deno.rename(draft, path);
    return { name, path };
  }));
}
