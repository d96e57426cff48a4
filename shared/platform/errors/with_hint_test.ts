import assert from "node:assert/strict";
import { withHint } from "./with_hint.ts";

Deno.test("withHint() ends the message with one mark, whoever wrote it", () => {
  for (const message of ["No rows", "No rows.", "No rows. "]) {
    assert.equal(withHint(message, "Try again."), "No rows. Try again.");
  }
  assert.equal(withHint("Really?", "Try again."), "Really? Try again.");
});

Deno.test("withHint() leaves a message without a hint as it is", () => {
  for (const hint of [undefined, null, ""]) assert.equal(withHint("No rows", hint), "No rows");
});
