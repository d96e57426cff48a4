import assert from "node:assert/strict";
import { join } from "node:path";
import { waitFor } from "../scripts/wait_for.ts";
import { watchFolders } from "./watch_folders.ts";

/** A project whose paths are watched. */
async function watched(...paths: readonly string[]) {
  const root = await Deno.makeTempDir({ prefix: "supaswarm-watch-" });
  let changes = 0;
  const stop = watchFolders(root, paths, () => {
    changes++;
    return Promise.resolve();
  });
  return {
    write: async (path: string, text = "x") => {
      await Deno.mkdir(join(root, path, ".."), { recursive: true });
      await Deno.writeTextFile(join(root, path), text);
    },
    remove: (path: string) => Deno.remove(join(root, path), { recursive: true }),
    /** Waits for the report of a change, and forgets it. */
    async reported() {
      await waitFor(() => changes > 0, { what: "a change" });
      changes = 0;
    },
    changes: () => changes,
    async [Symbol.asyncDispose]() {
      await stop();
      await Deno.remove(root, { recursive: true });
    },
  };
}

Deno.test("watchFolders() reports changes in a folder that is created later, and again", async () => {
  await using project = await watched("agents/tools");

  await project.write("agents/tools/crm.yaml");
  await project.reported();
  await project.write("agents/tools/crm.yaml", "y");
  await project.reported();
  await project.remove("agents");
  await project.reported();
  await project.write("agents/tools/crm.yaml");
  await project.reported();
});

Deno.test("watchFolders() reports a file, and nothing beside it", async () => {
  await using project = await watched("mcps.yaml");

  await project.write("mcps.yaml");
  await project.reported();
  await project.write("other.yaml");
  await project.write("mcps.yaml", "y");
  await project.reported();

  assert.equal(project.changes(), 0);
});
