import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import type { Manifest } from "../project/manifest.ts";
import { readOptional } from "../project/read_files.ts";
import { DATA_FOLDER } from "../project/running_stack.ts";
import { fillNames } from "../release/fill_names.ts";

/** The configuration under which the programs run, whatever the project's own says. */
const DENO_JSON = JSON.stringify({
  nodeModulesDir: "none",
  unstable: ["worker-options", "no-legacy-abort"],
});

/**
 * Writes the package's programs into a project, with the project's names, unless they are there
 * already. They cannot run where npm installs them, because Deno resolves imports differently there.
 *
 * @param source The package's folder of programs.
 * @param prepare Gets the folder of new programs; they are written again until it succeeds.
 * @returns Their folder.
 */
export async function writePrograms(
  root: string,
  source: string,
  manifest: Manifest,
  { prepare }: { readonly prepare: (folder: string) => Promise<void> },
): Promise<string> {
  const modules = await Promise.all((await filesIn(source)).map(async (path): Promise<File> => {
    const bytes = await readFile(join(source, path));
    return [path, path.endsWith(".ts") ? fillNames(bytes.toString(), manifest) : bytes];
  }));
  const files: File[] = [...modules, ["deno.json", DENO_JSON]];
  const digest = createHash("sha256");
  for (const [path, contents] of files) digest.update(path).update(contents);
  const hash = digest.digest("hex");
  const folder = join(root, DATA_FOLDER, "programs");
  const stamp = join(folder, ".hash");
  if (await readOptional(stamp) === hash) return folder;
  await rm(folder, { recursive: true, force: true });
  for (const [path, contents] of files) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), contents);
  }
  await writeFile(join(root, DATA_FOLDER, ".gitignore"), "*\n");
  await prepare(folder);
  await writeFile(stamp, hash);
  return folder;
}

type File = [path: string, contents: string | Uint8Array];

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll("\\", "/"))
    .sort();
}
