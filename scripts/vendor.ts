/** `deno task vendor`: bundles the npm packages that functions use into `shared/vendor/`. */
import { join } from "node:path";
import { runCommand } from "./cli/run_command.ts";
import { FULL_LOCK } from "./locks/lock_files.ts";
import { PROJECT_ROOT } from "./project_root.ts";
import { writeLine } from "./terminal.ts";
import { declarationFiles, VENDOR_FOLDER, vendorFiles } from "./vendor/vendor_files.ts";

await runCommand(
  {
    name: "deno task vendor",
    summary: `Bundles the npm packages that functions use into ${VENDOR_FOLDER}/. To update one, ` +
      "change its version in scripts/vendor/vendored_modules.ts and run this command; to use " +
      "another export of a package, add its name there.",
    options: {
      check: { type: "boolean", help: "Write nothing; fail if a file is not up to date." },
    },
  },
  async ({ values }) => {
    const folder = join(PROJECT_ROOT, VENDOR_FOLDER);
    if (!values.check) await lockPackages(folder);
    const wanted = await vendorFiles(PROJECT_ROOT);
    const current = await readFolder(folder);
    const stale = [...new Set([...wanted.keys(), ...current.keys()])]
      .filter((name) => wanted.get(name) !== current.get(name)).sort();
    if (stale.length === 0) return writeLine(`${VENDOR_FOLDER} is up to date`);
    if (values.check) {
      throw new Error(
        `${stale.map((name) => `${VENDOR_FOLDER}/${name}`).join(", ")} does not match the ` +
          "pinned packages. Run deno task vendor",
      );
    }
    for (const name of stale) {
      const content = wanted.get(name);
      if (content === undefined) await Deno.remove(join(folder, name));
      else await Deno.writeTextFile(join(folder, name), content);
      writeLine(`${content === undefined ? "Removed" : "Wrote"} ${VENDOR_FOLDER}/${name}`);
    }
  },
);

/** Adds the imports of the declarations to the full lock file, which decides the installed versions. */
async function lockPackages(folder: string): Promise<void> {
  await Deno.mkdir(folder, { recursive: true });
  const declarations = declarationFiles();
  for (const [name, content] of declarations) {
    await Deno.writeTextFile(join(folder, name), content);
  }
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "check",
      "--quiet",
      `--lock=${FULL_LOCK}`,
      ...[...declarations.keys()].map((name) => join(folder, name)),
    ],
    cwd: PROJECT_ROOT,
    stdout: "null",
    stderr: "piped",
  }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
}

async function readFolder(folder: string): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  for await (const { name } of Deno.readDir(folder)) {
    files.set(name, await Deno.readTextFile(join(folder, name)));
  }
  return files;
}
