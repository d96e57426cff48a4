import { join } from "node:path";
import { lockedClosure } from "./locked_closure.ts";
import { VENDORED_PACKAGES } from "./vendored_modules.ts";

/**
 * Lays the pinned packages and their dependencies out as `node_modules` in an empty folder, in the
 * versions that `deno.lock` fixes; no install script runs.
 *
 * @throws Error when `deno.lock` does not know a package, or the installation fails.
 */
export async function installPackages(projectRoot: string, folder: string): Promise<void> {
  const specifiers = Object.entries(VENDORED_PACKAGES)
    .map(([name, version]) => `npm:${name}@${version}`);
  const lock = lockedClosure(await Deno.readTextFile(join(projectRoot, "deno.lock")), specifiers);
  await Deno.writeTextFile(join(folder, "deno.lock"), lock);
  await Deno.writeTextFile(
    join(folder, "package.json"),
    JSON.stringify({ dependencies: VENDORED_PACKAGES }),
  );
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["install", "--quiet", "--frozen=false"],
    cwd: folder,
    stdout: "null",
    stderr: "piped",
  }).output();
  if (!success) {
    throw new Error(`Cannot install the vendored packages: ${new TextDecoder().decode(stderr)}`);
  }
}
