import assert from "node:assert/strict";
import { join } from "node:path";
import { applyChanges } from "./file_changes.ts";

Deno.test("applyChanges() undoes what it has written when a later change fails", async () => {
  const root = await Deno.makeTempDir();
  await Deno.writeTextFile(join(root, "replaced.txt"), "before");
  await Deno.writeTextFile(join(root, "deleted.txt"), "before");
  await Deno.writeTextFile(join(root, "file"), "no folder");

  const applying = applyChanges(root, [
    { path: "new/folder/new.txt", text: "after" },
    { path: "replaced.txt", text: "after" },
    { path: "deleted.txt", text: null },
    { path: "file/below.txt", text: "after" },
  ]);

  await assert.rejects(applying, { code: "ENOTDIR" });
  const names = (await Array.fromAsync(Deno.readDir(root))).map(({ name }) => name);
  assert.deepEqual(names.sort(), ["deleted.txt", "file", "replaced.txt"]);
  for (const name of ["replaced.txt", "deleted.txt"]) {
    assert.equal(await Deno.readTextFile(join(root, name)), "before");
  }
  await Deno.remove(root, { recursive: true });
});

Deno.test("applyChanges() changes nothing outside of the folder, and follows no link", async () => {
  const outer = await Deno.makeTempDir();
  const root = join(outer, "project");
  await Deno.mkdir(join(root, "supabase"), { recursive: true });
  await Deno.mkdir(join(outer, "other"));
  await Deno.writeTextFile(join(outer, "other/kept.txt"), "kept");
  await Deno.symlink(join(outer, "other"), join(root, "supabase/functions"));
  await Deno.symlink(join(outer, "other/kept.txt"), join(root, "link.txt"));
  await Deno.writeTextFile(join(root, "own.txt"), "own");

  for (
    const path of [
      "../other/kept.txt",
      "supabase/functions/kept.txt",
      "link.txt",
      `${outer}/other/kept.txt`,
    ]
  ) {
    for (const text of [null, "changed"]) {
      const changes = [{ path: "own.txt", text: null }, { path, text }];
      await assert.rejects(applyChanges(root, changes), { code: "PATH_OUTSIDE" }, path);
    }
  }

  assert.equal(await Deno.readTextFile(join(outer, "other/kept.txt")), "kept");
  assert.equal(await Deno.readTextFile(join(root, "own.txt")), "own");
  await Deno.remove(outer, { recursive: true });
});
