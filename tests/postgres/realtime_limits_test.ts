import assert from "node:assert/strict";
import postgres from "../../shared/vendor/postgres.js";
import type { Sql } from "../../shared/platform/db/sql_client.ts";
import { type DeltaRow, type ModelScript, Swarm } from "../engine/worker/swarm_fixture.ts";
import { type NativeServer, startMigratedServer } from "./native_server.ts";

const STREAM_MS = 4_000;
const PIECE_EACH_MS = 20;
const DEFAULT_BUDGET = 80;

interface Message {
  readonly event: string;
  readonly at_ms: number;
}

async function openSwarm(server: NativeServer): Promise<Swarm> {
  const swarm = Swarm.attach(server.cluster.url);
  await swarm.addAgents();
  return swarm;
}

/** Streams an answer in chunks for a few seconds, and then returns it as a whole. */
const streaming: ModelScript = async ({ onDelta }) => {
  let text = "";
  for (let spentMs = 0; spentMs < STREAM_MS; spentMs += PIECE_EACH_MS) {
    const piece = `${spentMs} `;
    onDelta(piece);
    text += piece;
    await new Promise((resolve) => setTimeout(resolve, PIECE_EACH_MS));
  }
  return { calls: [{ name: "complete_task", arguments: { output: text } }], text };
};

/** Eight watched tasks, each with one streamed answer, on two workers. */
async function runEightStreams(swarm: Swarm): Promise<readonly string[]> {
  const taskIds = await Promise.all(Array.from({ length: 8 }, () => swarm.createTask()));
  await Promise.all(taskIds.map((id) => swarm.watch(id)));
  const workers = [1, 2].map(() => swarm.startWorker({ slots: 4, model: streaming }));
  await Promise.all(taskIds.map((id) => swarm.until(id, "completed")));
  await Promise.all(workers.map((worker) => worker.stop()));
  return taskIds;
}

async function messagesOf(sql: Sql): Promise<readonly Message[]> {
  return await sql<Message[]>`
    select event, extract(epoch from (payload ->> 'at')::timestamptz)::float8 * 1000 as at_ms
    from realtime.messages where payload ? 'at' order by 2`;
}

/** The largest number of messages in any second. */
function mostInASecond(messages: readonly Message[]): number {
  const counts = messages.map(({ at_ms }) =>
    messages.filter((other) => other.at_ms >= at_ms && other.at_ms < at_ms + 1_000).length
  );
  return Math.max(0, ...counts);
}

/** Checks the events of these tasks on the channels of their jobs, since watching began. */
async function assertEveryEventWasSentOnce(
  sql: Sql,
  taskIds: readonly string[],
): Promise<void> {
  const unlike = await sql`
    select event.id, count(message.id)
    from public.task_events as event
    left join realtime.messages as message
      on (message.payload ->> 'seq')::bigint = event.id and message.topic like 'supaswarm:master:%'
    where event.type <> 'task.created' and ${sql.json([...taskIds])} ? event.task_id::text
    group by event.id having count(message.id) <> 1`;
  assert.deepEqual([...unlike], [], "each event is one message");
}

/** The received text has no gap and is a prefix of the answer. */
async function assertIsBeginning(swarm: Swarm, taskId: string): Promise<readonly DeltaRow[]> {
  const deltas = await swarm.deltas(taskId);
  const { output } = await swarm.task(taskId);
  const text = deltas.map((delta) => delta.text).join("");
  assert.ok(typeof output === "string" && output.startsWith(text), text);
  let end = 0;
  for (const delta of deltas) {
    assert.equal(delta.offset, end);
    end += delta.text.length;
  }
  return deltas;
}

Deno.test("eight watched streams stay within the budget, and no event is dropped", async (t) => {
  await using server = await startMigratedServer();
  const swarm = await openSwarm(server);

  await t.step("by default each task sends two messages per second", async () => {
    const taskIds = await runEightStreams(swarm);

    for (const taskId of taskIds) {
      const deltas = await assertIsBeginning(swarm, taskId);
      assert.ok(deltas.length >= 4, "text flows");
      const perSecond = mostInASecond(
        deltas.map(({ at }) => ({ event: "model.delta", at_ms: Date.parse(at) })),
      );
      // The worker counts when it sends, the database when it writes.
      assert.ok(perSecond <= 3, `${perSecond} in a second`);
      const times = deltas.map(({ at }) => Date.parse(at));
      // On a busy machine a stream takes longer than its pauses.
      const seconds = ((times.at(-1) ?? 0) - (times[0] ?? 0)) / 1_000;
      assert.ok(deltas.length <= 2 * (seconds + 1.5), `${deltas.length} in ${seconds} s`);
    }
    await assertEveryEventWasSentOnce(swarm.sql, taskIds);
    const most = mostInASecond(await messagesOf(swarm.sql));
    assert.ok(most <= DEFAULT_BUDGET, `${most} in a second`);
  });

  await t.step(
    "with a small one, text goes in fewer messages and events all the same",
    async () => {
      const budget = 6;
      await swarm.sql`
      insert into private.settings (key, value)
      values ('realtime_messages_per_second', ${String(budget)})`;
      await server.admin`truncate realtime.messages`;

      const taskIds = await runEightStreams(swarm);

      const messages = await messagesOf(swarm.sql);
      const deltas = messages.filter(({ event }) => event === "model.delta");
      await assertEveryEventWasSentOnce(swarm.sql, taskIds);
      const seconds = ((messages.at(-1)?.at_ms ?? 0) - (messages[0]?.at_ms ?? 0)) / 1_000;
      // Concurrent requests may all have been allowed once.
      assert.ok(deltas.length <= budget * seconds + 8, `${deltas.length} in ${seconds} s`);
      assert.ok(deltas.length > 0, "text is still sent");
      for (const taskId of taskIds) await assertIsBeginning(swarm, taskId);
    },
  );
  await swarm.close();
});

Deno.test("an event without a partition writes nothing and logs no warning", async () => {
  await using server = await startMigratedServer();
  const swarm = await openSwarm(server);
  const taskId = await swarm.createTask();
  await swarm.watch(taskId);
  await server.admin`alter table realtime.messages detach partition realtime.messages_default`;
  const notices: string[] = [];
  const client = postgres(server.cluster.url, {
    max: 1,
    onnotice: ({ message }) => void notices.push(message ?? ""),
  });

  await client`select private.emit_event(${taskId}, ${taskId}, 'data.saved')`;

  assert.deepEqual(notices, []);
  assert.equal(await eventCount(swarm.sql), 2);

  // If a row is refused for another reason, the platform's own function is called, and warns.
  await server.admin.unsafe(`
    alter table realtime.messages attach partition realtime.messages_default default;
    alter table realtime.messages add column of_the_platform int not null`);
  await client`select private.emit_event(${taskId}, ${taskId}, 'data.saved')`;
  assert.match(notices.join(), /WarnSendingBroadcastMessage/);
  assert.equal(await eventCount(swarm.sql), 3);

  await client.end();
  await swarm.close();
});

async function eventCount(sql: Sql): Promise<number> {
  const [row] = await sql<{ count: number }[]>`select count(*)::int from public.task_events`;
  return row?.count ?? 0;
}
