import { dirname, join } from "node:path";
import { PROJECT_ROOT } from "../../scripts/project_root.ts";

/** The files that a clone lacks: history, data of stacks, installed packages. */
const LEFT_OUT = new Set([".git", ".supaswarm", ".env", "node_modules"]);

/** A copy of the project as a new user has it, deleted after its test. */
export interface FreshClone extends AsyncDisposable {
  readonly root: string;
}

/** Copies this checkout into a new folder. */
export async function makeFreshClone(): Promise<FreshClone> {
  const parent = await Deno.realPath(await Deno.makeTempDir({ prefix: "supaswarm-docs-test-" }));
  const root = join(parent, "supaswarm");
  await copyFolder(PROJECT_ROOT, root);
  return { root, [Symbol.asyncDispose]: () => Deno.remove(dirname(root), { recursive: true }) };
}

async function copyFolder(from: string, to: string): Promise<void> {
  await Deno.mkdir(to);
  for await (const { name, isDirectory, isFile } of Deno.readDir(from)) {
    if (LEFT_OUT.has(name)) continue;
    if (isDirectory) await copyFolder(join(from, name), join(to, name));
    if (isFile) await Deno.copyFile(join(from, name), join(to, name));
  }
}
