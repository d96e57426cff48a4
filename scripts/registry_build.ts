/** `deno task registry:build`: builds the static files of the component registry. */
import { join } from "node:path";
import { runCommand } from "./cli/run_command.ts";
import { buildRegistry, REGISTRY_FOLDER, staleFiles } from "./registry/build_registry.ts";
import { writeLine } from "./terminal.ts";

await runCommand({
  name: "deno task registry:build",
  summary:
    "Writes registry/r, which the shadcn command installs from, from registry/registry.json.",
  options: {
    check: { type: "boolean", help: "Write nothing; fail if a file is not up to date." },
  },
}, async ({ values }) => {
  await Deno.mkdir(join(REGISTRY_FOLDER, "r"), { recursive: true });
  const stale = await staleFiles();
  if (stale.length === 0) return;
  if (values.check) {
    throw new Error(
      `registry/${stale.join(", ")} are out of date. Run deno task registry:build`,
    );
  }
  const built = new Map((await buildRegistry()).map(({ path, text }) => [path, text]));
  for (const path of stale) {
    const text = built.get(path);
    if (text === undefined) await Deno.remove(join(REGISTRY_FOLDER, path));
    else await Deno.writeTextFile(join(REGISTRY_FOLDER, path), text);
    writeLine(`${text === undefined ? "Removed" : "Wrote"} registry/${path}`);
  }
});
