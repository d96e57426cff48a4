import assert from "node:assert/strict";
import { parseCursor, printCursor } from "./event_cursor.ts";
import { SwarmClientError } from "./swarm_client_error.ts";

Deno.test("a cursor within a page keeps the page and the ids that were returned", () => {
  for (const page of [null, "120", "120.3.90.4.4"]) {
    for (const seen of [[], [121], [121, 125, 4_000_000_000]]) {
      assert.deepEqual(parseCursor(printCursor({ page, seen })), { page, seen });
    }
  }
  assert.deepEqual(parseCursor(null), { page: null, seen: [] });
});

Deno.test("text that is no cursor is refused before it is sent", () => {
  for (const text of ["next", "12_", "12_a..b", "12;drop"]) {
    assert.throws(
      () => parseCursor(text),
      (error) => error instanceof SwarmClientError && error.code === "QUERY_INVALID",
    );
  }
});
