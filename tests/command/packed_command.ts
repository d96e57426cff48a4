import assert from "node:assert/strict";
import { join } from "node:path";
import { buildPackage } from "../../scripts/package/build_package.ts";
import type { UserProject } from "./user_project.ts";

/** The file that `npm pack` makes of the package. */
export interface PackedCommand extends AsyncDisposable {
  readonly file: string;
}

/** Builds and packs the package. */
export async function packCommand(): Promise<PackedCommand> {
  const folder = await Deno.makeTempDir({ prefix: "supaswarm-packed-" });
  await buildPackage(join(folder, "package"), { withConsole: false });
  const { success, stdout } = await new Deno.Command("npm", {
    args: ["pack", "./package", "--json", "--silent"],
    cwd: folder,
    stderr: "null",
  }).output();
  assert.ok(success, "npm pack failed");
  const [packed] = JSON.parse(new TextDecoder().decode(stdout));
  return {
    file: join(folder, packed.filename),
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}

/** Installs the packed file in a project, without a network. */
export async function installPacked(project: UserProject, { file }: PackedCommand): Promise<void> {
  const options = [
    "--no-save",
    "--no-package-lock",
    "--offline",
    "--ignore-scripts",
    "--omit=peer",
  ];
  const { code, stderr } = await project.run("npm", "install", ...options, file);
  assert.equal(code, 0, stderr);
}
