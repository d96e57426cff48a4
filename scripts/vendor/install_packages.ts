import { join } from "node:path";
import { FULL_LOCK } from "../locks/lock_files.ts";
import { lockedClosure } from "../locks/locked_closure.ts";
import { VENDORED_PACKAGES } from "./vendored_modules.ts";

/**
 * Installs the pinned packages and their dependencies as `node_modules` in an empty folder, in the
 * versions of {@linkcode FULL_LOCK}. Runs no install scripts.
 *
 * @throws Error when the lock file lacks a package, or the installation fails.
 */
export async function installPackages(
  projectRoot: string,
  folder: string,
  packages: Readonly<Record<string, string>> = VENDORED_PACKAGES,
): Promise<void> {
  const specifiers = Object.entries(packages)
    .map(([name, version]) => `npm:${name}@${version}`);
  const lock = lockedClosure(await Deno.readTextFile(join(projectRoot, FULL_LOCK)), specifiers);
  await Deno.writeTextFile(join(folder, "deno.lock"), lock);
  await Deno.writeTextFile(
    join(folder, "package.json"),
    JSON.stringify({ dependencies: packages }),
  );
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["install", "--quiet", "--frozen=false"],
    cwd: folder,
    stdout: "null",
    stderr: "piped",
  }).output();
  if (!success) {
    throw new Error(`Cannot install the packages: ${new TextDecoder().decode(stderr)}`);
  }
}
