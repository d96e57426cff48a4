import assert from "node:assert/strict";
import type { Sql } from "../../shared/platform/db/sql_client.ts";
import { waitFor } from "../../scripts/wait_for.ts";
import type { SupabaseClient } from "../deps.ts";
import { sharedPlatform } from "../gateway/mcp/shared_platform.ts";
import { addAgent } from "../e2e/operator.ts";
import { castOf } from "./cast.ts";
import { eventsOf, listen, tryToListen } from "../e2e/channel_listener.ts";

Deno.test("a job's channels belong to its owner, and nobody can send into them", async (t) => {
  await using platform = await sharedPlatform();
  await using cast = await castOf(platform);
  const { sql, stack } = platform;
  await addAgent(sql, { slug: "quiet-channels" });
  const jobId = await createWaitingJob(sql, cast.owner.id);
  const topics = [`supaswarm:master:${jobId}`, `supaswarm:task:${jobId}`] as const;
  const owners = await Promise.all(topics.map((topic) => listen(cast.owner.client, topic)));

  /** When the owner receives this, everything sent earlier has arrived. */
  const assertOwnerReceivedOnly = async (marker: string) => {
    await sql`
      select private.send_messages(
        array['supaswarm:task:' || ${jobId}, 'supaswarm:master:' || ${jobId}],
        array[${marker}, ${marker}], array['{}', '{}']::jsonb[]
      )`;
    for (const listener of owners) {
      await listener.until(marker);
      assert.deepEqual(eventsOf(listener), [marker]);
      listener.received.length = 0;
    }
  };

  await t.step(
    "the owner receives what the database sends",
    () => assertOwnerReceivedOnly("first"),
  );

  await t.step("a stranger and the publishable key are refused", async () => {
    const others = [cast.stranger.client, cast.anon];
    const spellings = [...topics, topics[0].toUpperCase(), `${topics[1]}:`, `x:${topics[0]}`];
    for (const client of others) {
      for (const topic of spellings) {
        assert.equal(await tryToListen(client, topic), "REFUSED", topic);
      }
    }
  });

  await t.step("a public channel of the same name is a separate channel", async () => {
    const listener = await listen(cast.stranger.client, topics[0], { isPrivate: false });
    assert.equal(await listener.send("forged"), "ok");
    await assertOwnerReceivedOnly("after a public channel");
    // When this has arrived, every message of the private channel has arrived too.
    await broadcastOverHttp(stack.apiUrl, { apikey: stack.secretKey }, {
      topic: topics[0],
      event: "public marker",
      private: false,
    });
    await listener.until("public marker");
    assert.deepEqual(eventsOf(listener), ["public marker"]);
  });

  await t.step("nobody can send over the socket, not even the owner", async () => {
    for (const listener of owners) await listener.send("forged");
    await assertOwnerReceivedOnly("after sends over the socket");
  });

  await t.step("only the service can send over HTTP", async () => {
    const apikey = stack.publishableKey;
    const senders: readonly Record<string, string>[] = [
      { apikey },
      { apikey, authorization: `Bearer ${cast.stranger.accessToken}` },
      { apikey, authorization: `Bearer ${cast.owner.accessToken}` },
    ];
    for (const headers of senders) {
      for (const topic of topics) {
        for (const isPrivate of [true, false]) {
          const message = { topic, event: "forged", private: isPrivate };
          assert.equal(await broadcastOverHttp(stack.apiUrl, headers, message), 202);
        }
      }
    }
    await assertOwnerReceivedOnly("after sends over HTTP");
  });

  await t.step("a user's own channel carries only the changes of their jobs", async () => {
    const channelOf = ({ id }: { readonly id: string }) => `supaswarm:user:${id}`;
    for (const client of [cast.stranger.client, cast.anon]) {
      const answer = await tryToListen(client, channelOf(cast.owner));
      assert.equal(answer, "REFUSED");
    }
    const [ownersListener, strangersListener] = await Promise.all(
      [cast.owner, cast.stranger].map((person) => listen(person.client, channelOf(person))),
    );
    assert.ok(ownersListener !== undefined && strangersListener !== undefined);

    const ownersJob = await createWaitingJob(sql, cast.owner.id);
    await createWaitingJob(sql, cast.stranger.id);
    await sql`select public.cancel_task(${ownersJob}::uuid)`;

    await waitFor(() => strangersListener.received.length > 0, { what: "the stranger's job" });
    await waitFor(() => ownersListener.received.length > 1, { what: "the owner's job" });
    assert.deepEqual(eventsOf(ownersListener), ["job.changed", "job.changed"]);
    assert.deepEqual(eventsOf(strangersListener), ["job.changed"]);
  });

  await t.step("row changes reach only the owner", async () => {
    const [ownersRows, strangersRows] = await Promise.all([
      followTasks(cast.owner.client),
      followTasks(cast.stranger.client),
    ]);
    const [ownersTask, strangersTask] = [
      await createWaitingJob(sql, cast.owner.id),
      await createWaitingJob(sql, cast.stranger.id),
    ];

    await waitFor(() => strangersRows.includes(strangersTask), { what: "the stranger's row" });
    await waitFor(() => ownersRows.includes(ownersTask), { what: "the owner's row" });
    assert.deepEqual(strangersRows, [strangersTask]);
    assert.deepEqual(ownersRows, [ownersTask]);
  });
});

async function createWaitingJob(sql: Sql, ownerId: string): Promise<string> {
  const [task] = await sql<{ task_id: string }[]>`
    select task_id from private.create_task('quiet-channels', '{}', ${ownerId}, p_run_after => now() + interval '300 days')`;
  if (task === undefined) throw new Error("No task was created");
  return task.task_id;
}

async function broadcastOverHttp(
  apiUrl: string,
  headers: Readonly<Record<string, string>>,
  message: Readonly<Record<string, string | boolean>>,
): Promise<number> {
  const response = await fetch(`${apiUrl}/realtime/v1/api/broadcast`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ messages: [{ payload: {}, ...message }] }),
  });
  await response.body?.cancel();
  return response.status;
}

/** The ids of inserted tasks that a client is notified of. */
async function followTasks(client: SupabaseClient): Promise<readonly string[]> {
  const ids: string[] = [];
  await new Promise<void>((resolve, reject) => {
    client.channel(`rows-${crypto.randomUUID()}`)
      .on(
        "postgres_changes",
        { event: "INSERT", schema: "public", table: "tasks" },
        ({ new: row }) => ids.push(String(row.id)),
      )
      // Joining is not subscribing: a system message reports the subscription.
      .on(
        "system",
        {},
        ({ status }: { readonly status: string }) =>
          status === "ok" ? resolve() : reject(new Error(status)),
      )
      .subscribe();
  });
  return ids;
}
