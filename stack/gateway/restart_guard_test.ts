import assert from "node:assert/strict";
import { createRestartGuard } from "./restart_guard.ts";

function fakeDatabase() {
  const handlers = new Set<() => void>();
  return {
    onRestart: (handler: () => void) => {
      handlers.add(handler);
      return () => void handlers.delete(handler);
    },
    restart: () => handlers.forEach((handler) => handler()),
  };
}

Deno.test("a response that a restart lost is given up, a later one is not", async () => {
  const database = fakeDatabase();
  const guard = createRestartGuard(database, 1);
  const lost = guard.answerOf(new Promise<string>(() => {}));

  database.restart();
  const later = Promise.withResolvers<string>();
  const answer = guard.answerOf(later.promise);

  assert.equal(await lost, null);
  later.resolve("served");
  assert.equal(await answer, "served");
  guard.stop();
});

Deno.test("a response within the grace period is returned", async () => {
  const database = fakeDatabase();
  const guard = createRestartGuard(database, 60_000);
  const slow = Promise.withResolvers<string>();
  const answer = guard.answerOf(slow.promise);

  database.restart();
  slow.resolve("just in time");

  assert.equal(await answer, "just in time");
  guard.stop();
});
