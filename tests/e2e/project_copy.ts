import { join } from "node:path";
import { copyFolder } from "../../scripts/files/copy_folder.ts";
import { PROJECT_ROOT } from "../../scripts/project_root.ts";

/** A project folder that is deleted after its test. */
export interface ProjectCopy extends AsyncDisposable {
  readonly root: string;
}

/**
 * Copies the files that functions and migrations need, and adds edge functions: `index.ts` by name.
 */
export async function copyProject(
  functions: Readonly<Record<string, string>>,
): Promise<ProjectCopy> {
  const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "supaswarm-project-test-" }));
  for (const name of ["deno.json", "deno.lock"]) {
    await Deno.copyFile(join(PROJECT_ROOT, name), join(root, name));
  }
  for (const name of ["client", "shared", "supabase"]) {
    await copyFolder(join(PROJECT_ROOT, name), join(root, name));
  }
  for (const [name, code] of Object.entries(functions)) {
    const folder = join(root, "supabase", "functions", name);
    await Deno.mkdir(folder);
    await Deno.writeTextFile(join(folder, "index.ts"), code);
  }
  return { root, [Symbol.asyncDispose]: () => Deno.remove(root, { recursive: true }) };
}
