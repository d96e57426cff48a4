import assert from "node:assert/strict";
import { join } from "node:path";
import { buildPackage } from "../../scripts/package/build_package.ts";
import { oncePerRun } from "../../scripts/test/once_per_run.ts";
import type { UserProject } from "./user_project.ts";

/** The file that `npm pack` makes of the package. */
export interface PackedCommand extends AsyncDisposable {
  readonly file: string;
}

/** Builds and packs the package, once in a run of the suite. */
export async function packCommand(): Promise<PackedCommand> {
  const packed = await oncePerRun("packed", async (folder) => {
    await buildPackage(join(folder, "package"), { withConsole: false });
    const { success } = await new Deno.Command("npm", {
      args: ["pack", "./package", "--silent"],
      cwd: folder,
      stdout: "null",
      stderr: "null",
    }).output();
    assert.ok(success, "npm pack failed");
  });
  const { version } = JSON.parse(
    await Deno.readTextFile(join(packed.folder, "package/package.json")),
  );
  return {
    file: join(packed.folder, `supaswarm-${version}.tgz`),
    [Symbol.asyncDispose]: () => packed[Symbol.asyncDispose](),
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
