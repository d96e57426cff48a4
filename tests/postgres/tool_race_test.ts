import assert from "node:assert/strict";
import type { Sql } from "../../shared/platform/db/sql_client.ts";
import { runAsUser } from "../../shared/platform/db/run_as_user.ts";
import { assertNoDeadlock, createFamilies, openRaceTrack } from "./race_fixture.ts";
import { waitFor } from "../../scripts/wait_for.ts";

Deno.test("many connections use one tool concurrently", async (t) => {
  await using track = await openRaceTrack();
  const { sql } = track;

  await t.step("of 50 concurrent successes, the first teach until there is no room", async () => {
    const { connectionId, toolId } = await connect(sql);
    await recordTools(sql, connectionId);

    await Promise.all(Array.from({ length: 50 }, (_, n) => record(sql, connectionId, { n })));

    const own = await learned(sql, connectionId);
    assert.equal(new Set(own.sets.map(({ n }) => n)).size, 10);
    assert.ok(own.count >= 10 && own.count <= 50, String(own.count));
    const [shared] = await sql<{ id: string }[]>`
      select id from public.agent_mcp_connections where tool_id = ${toolId} and user_id is null`;
    const shape = await learned(sql, shared?.id ?? "");
    assert.deepEqual(shape, { count: own.count, sets: [{ n: "<integer>" }] });
  });

  await t.step("users who learn, list and rate concurrently do not block each other", async () => {
    const first = await connect(sql);
    const others = await Promise.all(
      Array.from({ length: 7 }, () => connect(sql, first.toolId)),
    );
    const users = [first, ...others];
    for (const { connectionId } of users) await recordTools(sql, connectionId);

    await Promise.all(
      users.flatMap(({ connectionId, userId, toolId }, index) =>
        Array.from({ length: 10 }, async (_, n) => {
          const id = crypto.randomUUID();
          await sql`
          select private.record_execution(${
            sql.json({
              id,
              feedback_token: crypto.randomUUID(),
              mcp_name: "x",
              tool_name: "a",
              tool_id: toolId,
              connection_id: connectionId,
              user_id: userId,
              attempt: 1,
              execution_time_ms: 1,
              status: "success",
              request_data: { n: index * 100 + n },
              parameters: { n: index * 100 + n },
            })
          })`;
          await recordTools(sql, connectionId, n % 3 === 0 ? "other words" : "words");
          await sql`select private.delete_parameters(${id})`;
        })
      ),
    );

    for (const { connectionId } of users) {
      assert.deepEqual(await learned(sql, connectionId), { count: 10, sets: [] });
    }
  });

  await t.step(
    "concurrent usage of a job's tools is all counted, next to checkpoints",
    async () => {
      const [family] = await createFamilies(track, 1, 8);
      assert.ok(family);
      const { parent, children } = family;
      const { toolId, userId, connectionId } = await connect(sql);
      await recordTools(sql, connectionId);

      await Promise.all(children.map(async ({ taskId, epoch }) => {
        const calls = Array.from({ length: 10 }, (_, n) =>
          sql`
        select private.record_execution(${
            sql.json({
              id: crypto.randomUUID(),
              feedback_token: crypto.randomUUID(),
              mcp_name: "x",
              tool_name: "a",
              tool_id: toolId,
              connection_id: connectionId,
              user_id: userId,
              task_id: taskId,
              step_seq: 2,
              attempt: 1,
              execution_time_ms: 1,
              status: "success",
              parameters: { n },
              model_uses: [
                {
                  provider: "x",
                  model: "m",
                  key_source: "none",
                  input_tokens: 3,
                  output_tokens: 1,
                },
              ],
            })
          })`);
        const checkpoints = [1, 3, 4].map((seq) =>
          sql`
        select private.record_steps(${taskId}, ${epoch}, 60, ${
            sql.json([{
              seq,
              kind: "model",
              state: "done",
              output: {},
              usage: { model: "m", key_source: "none", input_tokens: 100, output_tokens: 10 },
            }])
          })`
        );
        await Promise.all([...calls, ...checkpoints]);
        // A task's own sums are written when it stops running.
        await sql`select private.finish_task(${taskId}, ${epoch}, '1')`;
      }));

      const expected = [8 * (10 * 3 + 3 * 100), 8 * (10 * 1 + 3 * 10)];
      const [job] = await sql`
      select input_tokens::int, output_tokens::int from private.job_totals
      where master_task_id = ${parent.taskId}`;
      const [tasks] = await sql`
      select sum(input_tokens)::int as input_tokens, sum(output_tokens)::int as output_tokens
      from public.tasks where master_task_id = ${parent.taskId}`;
      for (const sums of [job, tasks]) {
        assert.deepEqual([sums?.input_tokens, sums?.output_tokens], expected);
      }
    },
  );

  await t.step("a bucket of 20 allows exactly 20 of 100 calls", async () => {
    const { toolId, userId } = await connect(sql);

    const waits = await Promise.all(Array.from({ length: 100 }, async () => {
      const [row] = await sql<{ wait: number }[]>`
        select private.take_tool_call(${toolId}, 'a', ${userId}, 1, 20) as wait`;
      return row?.wait ?? 0;
    }));

    assert.equal(waits.filter((wait) => wait === 0).length, 20);
    assert.ok(waits.every((wait) => wait === 0 || wait > 50_000 && wait <= 60_000));
  });

  await t.step("of 30 callers one lists a server, and one probes it", async () => {
    const { connectionId } = await connect(sql);
    for (let n = 0; n < 5; n++) {
      await sql`select private.record_connection_failure(${connectionId})`;
    }
    await sql`update public.agent_mcp_connections set retry_at = now() where id = ${connectionId}`;

    for (const begin of ["begin_listing", "begin_probe"]) {
      const mine = await Promise.all(Array.from({ length: 30 }, async () => {
        const [row] = await sql.unsafe<{ is_mine: boolean }[]>(
          `select private.${begin}($1) as is_mine`,
          [connectionId],
        );
        return row?.is_mine;
      }));
      assert.equal(mine.filter((isMine) => isMine).length, 1, begin);
    }
  });

  await t.step("concurrent first listings approve one definition, in any order", async () => {
    const first = await connect(sql);
    const others = await Promise.all(Array.from({ length: 9 }, () => connect(sql, first.toolId)));

    await Promise.all(
      [first, ...others].map(({ connectionId }, index) =>
        recordTools(sql, connectionId, `words ${index % 2}`, true)
      ),
    );

    const states = await sql<{ state: string; definitions: number }[]>`
      select cached.state, count(distinct coalesce(cached.held_definition ->> 'hash', cached.definition_hash))::int as definitions
      from public.mcp_tools_cache cached
      join public.agent_mcp_connections connection on connection.id = cached.connection_id
      where connection.tool_id = ${first.toolId}
      group by cached.state order by cached.state`;
    assert.deepEqual(states.map((row) => ({ ...row })), [
      { state: "approved", definitions: 1 },
      { state: "quarantined", definitions: 1 },
    ]);
  });

  await t.step("an abort cancels the statement that runs as the caller", async () => {
    const { userId } = await connect(sql);
    const abort = new AbortController();
    const reason = new Error("gone");
    const work = runAsUser(
      sql,
      { userId, isReadOnly: true, statementTimeoutMs: 60_000, signal: abort.signal },
      async (transaction) => await transaction`select pg_sleep(30) as cancel_me`,
    );
    const isRunning = async () => {
      const [row] = await sql`
        select 1 from pg_stat_activity
        where query like '%cancel_me%' and state = 'active' and pid <> pg_backend_pid()`;
      return row !== undefined;
    };
    await waitFor(isRunning, { what: "the statement to run" });

    abort.abort(reason);

    await assert.rejects(work, (error) => error === reason);
    await waitFor(async () => !await isRunning(), { what: "the statement to end" });
  });

  await t.step("no statement was a deadlock victim", () => assertNoDeadlock(track));
});

interface Connected {
  readonly toolId: string;
  readonly userId: string;
  readonly connectionId: string;
}

/** A user's connection to a tool, which is created unless it is named. */
async function connect(sql: Sql, known?: string): Promise<Connected> {
  const userId = crypto.randomUUID();
  await sql`insert into auth.users (id, email) values (${userId}, ${`${userId}@example.com`})`;
  const toolId = known ?? await addTool(sql);
  const [row] = await sql<{ id: string }[]>`
    select private.ensure_connection(${toolId}, ${userId}) as id`;
  assert.ok(row);
  return { toolId, userId, connectionId: row.id };
}

async function addTool(sql: Sql): Promise<string> {
  const slug = `t-${crypto.randomUUID()}`;
  const [row] = await sql<{ id: string }[]>`
    insert into public.tools (name, slug, type, config)
    values (${slug}, ${slug}, 'mcp_server', '{"mcp_url": "http://x"}') returning id`;
  assert.ok(row);
  return row.id;
}

async function recordTools(
  sql: Sql,
  connectionId: string,
  description = "words",
  isRemote = false,
): Promise<void> {
  const schema = {
    name: "a",
    description,
    inputSchema: { type: "object", properties: { n: { type: "integer" } } },
  };
  const tool = { name: "a", version: null, schema, openai_schema: {}, hash: description };
  const listing = { tools: [tool], dropped: [], is_remote: isRemote, holds_new: false };
  await sql`select private.record_tools(${connectionId}, ${sql.json(listing)})`;
}

async function record(sql: Sql, connectionId: string, parameters: { n: number }): Promise<void> {
  await sql`
    select public.record_mcp_tool_execution(${connectionId}, 'a', ${sql.json(parameters)})`;
}

async function learned(sql: Sql, connectionId: string) {
  const [row] = await sql<{ sets: { n: unknown }[]; count: number }[]>`
    select successful_parameters as sets, success_count as count
    from public.mcp_tools_cache where connection_id = ${connectionId} and tool_name = 'a'`;
  assert.ok(row);
  return { ...row };
}
