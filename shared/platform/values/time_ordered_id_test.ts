import assert from "node:assert/strict";
import { timeOrderedId } from "./time_ordered_id.ts";

Deno.test("timeOrderedId() returns UUIDs of version 7 that contain their time and never repeat", () => {
  const beforeMs = Date.now();
  const ids = Array.from({ length: 1_000 }, timeOrderedId);
  const afterMs = Date.now();

  assert.equal(new Set(ids).size, ids.length);
  for (const id of ids) {
    assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    const atMs = parseInt(id.replaceAll("-", "").slice(0, 12), 16);
    assert.ok(beforeMs <= atMs && atMs <= afterMs);
  }
});
