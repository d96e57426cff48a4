import assert from "node:assert/strict";
import { waitFor } from "../../scripts/wait_for.ts";
import { runAsUser } from "../../shared/platform/db/run_as_user.ts";
import { openIsolatePool } from "../../shared/platform/isolate/isolate_pool.ts";
import { startMigratedServer } from "./native_server.ts";

Deno.test("a caller's statement whose answer is lost does not block other users", async () => {
  await using server = await startMigratedServer();
  const sql = openIsolatePool(server.cluster.url, "lost-caller", ["caller"]);
  const ask = (userId: string, statement: string, signal: AbortSignal) =>
    runAsUser(
      sql,
      { userId, isReadOnly: true, statementTimeoutMs: 60_000, signal },
      async (transaction) => await transaction.unsafe(statement),
    );
  const giveUp = new AbortController();
  const reason = new Error("the client disconnected");
  let stoppedPid = 0;
  try {
    const lost = assert.rejects(
      ask(crypto.randomUUID(), "select pg_sleep(60) as lost", giveUp.signal),
      (error) => error === reason,
    );
    stoppedPid = await waitFor(async () => {
      const [row] = await server.admin<{ pid: number }[]>`
        select pid from pg_stat_activity where query like '%as lost' and state = 'active'`;
      return row?.pid;
    }, { what: "the statement to run" });
    // The session neither answers nor ends.
    Deno.kill(stoppedPid, "SIGSTOP");
    giveUp.abort(reason);

    const answer = await ask(crypto.randomUUID(), "select 1 as one", AbortSignal.timeout(30_000));

    assert.equal(answer[0]?.one, 1);
    await lost;
  } finally {
    if (stoppedPid !== 0) Deno.kill(stoppedPid, "SIGCONT");
    await sql.end({ timeout: 1 });
  }
});
