import assert from "node:assert/strict";
import { CpuShare } from "./cpu_share.ts";

Deno.test("pieces that run at the same time share the CPU that is used meanwhile", () => {
  const share = new CpuShare();

  const firstBegan = share.note(100, 0);
  const secondBegan = share.note(130, 1);
  const firstEnded = share.note(190, 2);
  const secondEnded = share.note(200, 1);

  assert.equal(firstEnded - firstBegan, 30 + 60 / 2);
  assert.equal(secondEnded - secondBegan, 60 / 2 + 10);
});

Deno.test("CPU that is used while nothing runs belongs to no piece", () => {
  const share = new CpuShare();
  share.note(0, 0);

  const began = share.note(500, 0);

  assert.equal(share.note(510, 1) - began, 10);
});
