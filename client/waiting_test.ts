import assert from "node:assert/strict";
import { unlessAborted } from "./waiting.ts";

Deno.test("unlessAborted() rejects with the reason of a signal that has aborted before", async () => {
  const failing = Promise.reject(new Error("The work failed"));
  const reason = new Error("The reader has left");

  await assert.rejects(unlessAborted(failing, AbortSignal.abort(reason)), reason);
});
