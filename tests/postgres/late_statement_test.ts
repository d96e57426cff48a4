import assert from "node:assert/strict";
import { waitFor } from "../../scripts/wait_for.ts";
import { errorField } from "../../shared/platform/db/error_field.ts";
import { runAsUser } from "../../shared/platform/db/run_as_user.ts";
import { SwarmError } from "../../shared/platform/errors/swarm_error.ts";
import { openIsolatePool } from "../../shared/platform/isolate/isolate_pool.ts";
import { startMigratedServer } from "./native_server.ts";

Deno.test("a statement that its timeout does not end delays and blocks only its own user", async (t) => {
  await using server = await startMigratedServer();
  const { admin } = server;
  const sql = openIsolatePool(server.cluster.url, "late-statement", ["caller"]);
  const ask = (userId: string, statement: string) =>
    runAsUser(
      sql,
      { userId, isReadOnly: true, statementTimeoutMs: 1_000, signal: AbortSignal.timeout(60_000) },
      async (transaction) => await transaction.unsafe(statement),
    );
  const [account] = await admin<{ id: string }[]>`
    insert into auth.users (id) values (gen_random_uuid()) returning id::text`;
  const [ann, bob] = [account?.id ?? "", crypto.randomUUID()];
  let pid = 0;
  const late = assert.rejects(
    ask(ann, "select pg_sleep(60) as late"),
    (error) => error instanceof SwarmError && error.code === "TOOL_TIMEOUT",
  );
  try {
    // A process that is stopped neither answers nor ends, like one that checks for no cancellation.
    pid = await waitFor(async () => {
      const [row] = await admin<{ pid: number }[]>`
        select pid from pg_stat_activity where query like '%as late' and state = 'active'`;
      if (row !== undefined) Deno.kill(row.pid, "SIGSTOP");
      return row?.pid;
    }, { what: "the statement to run", intervalMs: 5 });

    await t.step("its call ends with an error", () => late);

    await t.step("the user's next statement is refused, those of others run", async () => {
      await assert.rejects(
        ask(ann, "select 1 as one"),
        (error) => errorField(error, "detail") === "STATEMENT_STILL_RUNNING",
      );
      assert.equal((await ask(bob, "select 1 as one"))[0]?.one, 1);
    });

    await t.step("maintenance reports it to operators, with its user", async () => {
      await server.sql`select private.tick()`;

      const [failure] = await server.sql`
        select last_row_id, last_error_code, last_error_message from public.maintenance_failures
        where routine = 'end_late_statements'`;
      assert.equal(failure?.last_row_id, ann);
      assert.equal(failure?.last_error_code, "57014");
      assert.match(failure?.last_error_message, new RegExp(`in process ${pid} runs .* of 1000 ms`));
    });

    await t.step(
      "the cancellation ends it at the next check, and its user can continue",
      async () => {
        Deno.kill(pid, "SIGCONT");
        await waitFor(async () => {
          const late = await server.sql`select from private.late_statements()`;
          return late.length === 0 ? true : undefined;
        }, { what: "the statement to end" });
        pid = 0;

        assert.equal((await ask(ann, "select 1 as one"))[0]?.one, 1);
      },
    );
  } finally {
    if (pid !== 0) Deno.kill(pid, "SIGCONT");
    await late.catch(() => {});
    await sql.end({ timeout: 1 });
  }
});
