import assert from "node:assert/strict";
import { memoryFolder } from "./memory_folder.ts";

const ROOM = { freeBytes: 5 * 1024 ** 3, memoryBytes: 5 * 1024 ** 3 };

Deno.test("temporary files of tests are in memory where there is room and programs may run", () => {
  const mounts = "proc /proc proc rw 0 0\ntmpfs /dev/shm tmpfs rw,nosuid,nodev 0 0\n";

  assert.equal(memoryFolder(mounts, ROOM), "/dev/shm");
  assert.equal(memoryFolder(mounts, { ...ROOM, freeBytes: 64 * 1024 ** 2 }), undefined);
  assert.equal(memoryFolder(mounts, { ...ROOM, memoryBytes: 64 * 1024 ** 2 }), undefined);
  assert.equal(memoryFolder(mounts.replace("nodev", "noexec"), ROOM), undefined);
  assert.equal(memoryFolder("", ROOM), undefined);
});
