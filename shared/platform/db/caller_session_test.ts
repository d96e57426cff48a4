import assert from "node:assert/strict";
import { callerSessionsOf } from "./caller_session.ts";
import { createSql, type Sql } from "./sql_client.ts";

/** A pool whose only query returns the callers' login; nothing connects. */
function poolWithLogin(): Sql {
  const sql = createSql("postgres://postgres@127.0.0.1:1/postgres", {
    maxConnections: 1,
    applicationName: "test",
  });
  const answer = () => Promise.resolve([{ login: { name: "caller", password: "secret" } }]);
  return new Proxy(sql, { apply: answer });
}

Deno.test("a connection that cannot be closed is given to the next caller", async () => {
  const sessions = callerSessionsOf(poolWithLogin());
  const { signal } = new AbortController();
  const failToEnd = (callers: Sql) => {
    callers.end = () => Promise.reject(new Error("Cannot end"));
    return Promise.resolve("committed");
  };

  const first = await sessions.use(failToEnd, { userId: "ada", signal, closes: true });
  const second = await sessions.use(() => Promise.resolve("served"), {
    userId: "bob",
    signal: AbortSignal.timeout(1_000),
    closes: false,
  });

  assert.deepEqual([first, second], ["committed", "served"]);
});
