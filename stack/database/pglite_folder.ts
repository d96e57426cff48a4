import { dirname, join } from "node:path";
import { bundleExtension } from "../platform/extension_bundle.ts";
import { platformExtensions, platformHash, platformSql } from "../platform/platform_files.ts";
import type { ExtensionBundle } from "./child_protocol.ts";
import { preparePgliteFolder } from "./pglite_process.ts";
import { copySnapshot, type SnapshotOptions } from "./snapshot.ts";
import { sha256Hex } from "../../shared/platform/values/sha256_hex.ts";

const DEPENDENCIES = new URL("../deps.ts", import.meta.url);

type PgliteFolderOptions = Pick<SnapshotOptions, "cacheDir" | "log" | "signal" | "report">;

/**
 * Returns a key for the content of a new data folder. It depends on the platform's SQL and
 * extensions, and on the versions of PGlite and its packages.
 */
async function pgliteFolderKey(): Promise<string> {
  const dependencies = await Deno.readTextFile(DEPENDENCIES);
  const versions = dependencies.match(/npm:@electric-sql\/[^"]+/g) ?? [];
  const text = [await platformHash(), ...versions.toSorted()].join("\n");
  return sha256Hex(text).slice(0, 16);
}

/** Returns the options of a snapshot in which only the platform's SQL has run. */
export async function platformSnapshot(
  bundles: readonly ExtensionBundle[],
  options: PgliteFolderOptions,
): Promise<SnapshotOptions> {
  return {
    ...options,
    key: await pgliteFolderKey(),
    build: async (dataDir) =>
      await preparePgliteFolder({ ...options, dataDir, bundles, sql: await platformSql() }),
  };
}

/**
 * Creates the data folder if it is missing. Keeps a folder of another version unchanged and logs a
 * warning: its platform SQL is older or newer than the code.
 */
export async function ensurePgliteFolder(
  dataDir: string,
  snapshot: SnapshotOptions,
): Promise<void> {
  const keyFile = `${dataDir}.key`;
  const isPresent = await Deno.stat(dataDir).then(() => true, () => false);
  if (!isPresent) {
    await Deno.mkdir(dirname(dataDir), { recursive: true });
    await copySnapshot(snapshot, dataDir);
    return await Deno.writeTextFile(keyFile, snapshot.key);
  }
  const madeWith = await Deno.readTextFile(keyFile).catch(() => "");
  if (madeWith !== snapshot.key) {
    snapshot.log("warn", "database.folder_of_other_version", { data_dir: dataDir });
  }
}

/** Writes the stack's extensions as bundles into the cache, and returns them. */
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
