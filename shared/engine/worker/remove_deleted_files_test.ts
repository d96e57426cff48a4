import assert from "node:assert/strict";
import { type DeletedFiles, removeDeletedFiles } from "./remove_deleted_files.ts";

function listOf(count: number, fails = false) {
  const listed = new Set(Array.from({ length: count }, (_, n) => `job/task/${n}`));
  const removed: string[] = [];
  const files: DeletedFiles = {
    list: (limit) => Promise.resolve([...listed].slice(0, limit)),
    remove: (paths) => {
      if (fails) return Promise.reject(new Error("Storage is down"));
      removed.push(...paths);
      return Promise.resolve();
    },
    deleteRecords: (paths) => {
      for (const path of paths) listed.delete(path);
      return Promise.resolve();
    },
  };
  return { files, listed, removed };
}

Deno.test("removeDeletedFiles() removes every listed file from Storage and from the list", async () => {
  const { files, listed, removed } = listOf(250);
  assert.equal(await removeDeletedFiles(files), 250);
  assert.equal(removed.length, 250);
  assert.equal(listed.size, 0);
});

Deno.test("removeDeletedFiles() keeps files that could not be removed on the list", async () => {
  const { files, listed } = listOf(3, true);
  await assert.rejects(removeDeletedFiles(files), /Storage is down/);
  assert.equal(listed.size, 3);
});

Deno.test("removeDeletedFiles() stops after a bounded number of files", async () => {
  const { files, listed } = listOf(1_200);
  assert.equal(await removeDeletedFiles(files), 1_000);
  assert.equal(listed.size, 200);
});
