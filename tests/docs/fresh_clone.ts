import { dirname, join } from "node:path";
import { copyFolder } from "../../scripts/files/copy_folder.ts";
import { PROJECT_ROOT } from "../../scripts/project_root.ts";

/** The files that a clone lacks: history, data of stacks, installed packages. */
const LEFT_OUT = [".git", ".supaswarm", ".env", "node_modules"];

/** A copy of the project as a new user has it, deleted after its test. */
export interface FreshClone extends AsyncDisposable {
  readonly root: string;
}

/** Copies this checkout into a new folder. */
export async function makeFreshClone(): Promise<FreshClone> {
  const parent = await Deno.realPath(await Deno.makeTempDir({ prefix: "supaswarm-docs-test-" }));
  const root = join(parent, "supaswarm");
  await copyFolder(PROJECT_ROOT, root, { except: LEFT_OUT });
  return { root, [Symbol.asyncDispose]: () => Deno.remove(dirname(root), { recursive: true }) };
}
