import assert from "node:assert/strict";
import { LentConnection } from "./lent_connection.ts";

Deno.test("LentConnection is never used by two callers at once", async () => {
  const lent = new LentConnection();
  const { signal } = new AbortController();
  const first = await lent.hold(signal);
  let isBorrowed = false;
  const borrowing = lent.borrow().then(() => isBorrowed = true);
  assert.ok(first.asked.aborted, "the holder is asked to return it");
  await Promise.resolve();
  assert.equal(isBorrowed, false, "and has it until its connection is closed");

  first.release();
  await borrowing;
  let isHeld = false;
  const holding = lent.hold(signal).then((held) => {
    isHeld = true;
    return held;
  });
  await Promise.resolve();
  assert.equal(isHeld, false, "the holder waits while the connection is borrowed");

  lent.giveBack();
  assert.equal((await holding).asked.aborted, false);
});

Deno.test("LentConnection is available while nobody holds it", async () => {
  const lent = new LentConnection();
  await lent.borrow();
  const ending = new AbortController();
  const holding = lent.hold(ending.signal);
  ending.abort(new Error("over"));
  await assert.rejects(holding, /over/);
  lent.giveBack();
});
