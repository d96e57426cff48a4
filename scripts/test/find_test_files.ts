import { join } from "node:path";

/** The test files in `paths`, files and folders from the root: each once, sorted by name. */
export async function findTestFiles(
  projectRoot: string,
  paths: readonly string[],
): Promise<string[]> {
  const files = new Set<string>();
  for (const path of paths) {
    for (const file of await filesIn(projectRoot, path.replace(/^\.\/|\/+$/g, ""))) files.add(file);
  }
  return [...files].sort();
}

async function filesIn(projectRoot: string, path: string): Promise<string[]> {
  if ((await Deno.stat(join(projectRoot, path))).isFile) return [path];
  const files: string[] = [];
  for await (const entry of Deno.readDir(join(projectRoot, path))) {
    const inner = `${path}/${entry.name}`;
    if (entry.isDirectory) files.push(...await filesIn(projectRoot, inner));
    else if (entry.name.endsWith("_test.ts")) files.push(inner);
  }
  return files;
}
