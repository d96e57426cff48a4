import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import type { Sql } from "../../shared/platform/db/sql_client.ts";
import { isolateClock } from "../../shared/platform/isolate/clock.ts";
import { createLifetime } from "../../shared/platform/isolate/lifetime.ts";
import { createGuardedFetch } from "../../shared/platform/net/guarded_fetch.ts";
import {
  createSqlMessageStore,
  type MessageStore,
} from "../../shared/engine/webhooks/message_store.ts";
import {
  createWebhookWorker,
  type WebhookPorts,
} from "../../shared/engine/webhooks/webhook_worker.ts";
import { createTasks, openRaceTrack } from "../postgres/race_fixture.ts";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

Deno.test("webhooks deliver messages", async (t) => {
  await using track = await openRaceTrack();
  const { sql } = track;
  await using receiver = startReceiver();
  const store = createSqlMessageStore(sql, { leaseSeconds: 60, clock: isolateClock });
  const ports = {
    store,
    fetch: createGuardedFetch({ allowLoopback: true }),
    nowMs: Date.now,
    clock: isolateClock,
    timeoutMs: 60_000,
    log: () => {},
  };

  await t.step("a receiver gets a message once, and can verify it", async () => {
    await addWebhook(sql, receiver.url("/ok"));
    const [taskId] = await createTasks(sql, 1);

    await work(ports);
    await work(ports);

    const [request, ...others] = receiver.take();
    assert.ok(request);
    assert.deepEqual(others, []);
    assert.equal(signatureOf(request), request.headers.get("webhook-signature"));
    const age = Date.now() / 1_000 - Number(request.headers.get("webhook-timestamp"));
    assert.ok(age < 30, "the timestamp is current");
    assert.equal(JSON.parse(request.body).data.task_id, taskId);
    const [message] = await messages(sql);
    assert.equal(message?.id, request.headers.get("webhook-id"));
    assert.equal(message?.status, "delivered");
  });

  for (
    const [claim, path, problem] of [
      ["answers 500", "/500", "the receiver responded with 500"],
      ["does not answer", "/silent", "did not respond within 0.5 seconds"],
      [
        "redirects to a private address",
        "/redirect",
        "responded with 307, and redirects are not followed",
      ],
    ] as const
  ) {
    await t.step(`a message to a receiver that ${claim} is retried`, async () => {
      await addWebhook(sql, receiver.url(path));
      await createTasks(sql, 1);

      await work(path === "/silent" ? { ...ports, timeoutMs: 500 } : ports);

      assert.equal(receiver.take().length, 1, "one request, and none to the redirect's target");
      const [message] = await messages(sql);
      assert.equal(message?.status, "pending");
      assert.equal(message?.attempts, 1);
      assert.ok(message.error?.message.includes(problem), JSON.stringify(message.error));
      assert.ok(!JSON.stringify(message).includes(SECRET.slice(6)), "the log contains no secret");

      receiver.heal();
      await sql`update public.webhook_messages set run_after = now() - interval '1 second'`;
      await work(ports);
      assert.equal((await messages(sql))[0]?.status, "delivered");
      receiver.take();
    });
  }

  await t.step("a receiver that answers 410 stops its webhook", async () => {
    const id = await addWebhook(sql, receiver.url("/410"));
    await createTasks(sql, 1);

    await work(ports);

    assert.equal((await messages(sql))[0]?.status, "failed");
    const [webhook] = await sql`select is_active from public.webhooks where id = ${id}`;
    assert.equal(webhook?.is_active, false);
    receiver.take();
  });

  await t.step("no request reaches a private address", async () => {
    await addWebhook(sql, receiver.url("/ok"));
    await createTasks(sql, 1);

    await work({ ...ports, fetch: createGuardedFetch({ allowLoopback: false }) });

    assert.deepEqual(receiver.take(), []);
    const [message] = await messages(sql);
    assert.match(message?.error?.message ?? "", /it leads to a loopback, private/);
  });

  await t.step("a receiver that never answers does not delay another", async () => {
    await addWebhook(sql, receiver.url("/silent"));
    const [live] = await sql`
      insert into public.webhooks (url, events) values (${receiver.url("/ok")}, '{task.created}')
      returning id`;
    await createTasks(sql, 30);

    await work(ports, async () => {
      while (true) {
        const [row] = await sql`
          select count(*)::int as count from public.webhook_messages
          where webhook_id = ${live?.id} and status = 'delivered'`;
        if (row?.count === 30) break;
      }
      const [silent] = await sql`
        select count(*)::int as count from public.webhook_messages
        where webhook_id <> ${live?.id} and attempts > 0`;
      assert.ok(silent?.count < 30, "the other's messages still wait");
      // Otherwise the test would wait for each of them.
      await sql`update public.webhooks set is_active = false where id <> ${live?.id}`;
      receiver.release();
    });
    receiver.take();
  });

  await t.step("an owner of many receivers that never answer does not delay another", async () => {
    await using slow = startReceiver();
    await sql`delete from public.webhooks`;
    const busy = await addOwner(sql, 20, slow.url("/silent"));
    const bystander = await addOwner(sql, 1, receiver.url("/ok"));
    await queueMessages(sql, busy, 10);

    await work(ports, async () => {
      while ((await countOf(sql, busy)).running < 8);
      await queueMessages(sql, bystander, 3);
      while ((await countOf(sql, bystander)).delivered < 3);

      assert.deepEqual(await countOf(sql, busy), { running: 8, delivered: 0 });
      await sql`update public.webhooks set is_active = false where created_by = ${busy}`;
      slow.release();
    });
    assert.equal(receiver.take().length, 3);
  });

  await t.step("a worker that dies before its request loses no message", async () => {
    await addWebhook(sql, receiver.url("/ok"));
    await createTasks(sql, 1);

    await store.claim("dies", 1);
    assert.deepEqual(await sendAfterDeath(), 1);
  });

  await t.step(
    "a worker that dies before its record is committed causes a repeat with the same id",
    async () => {
      await addWebhook(sql, receiver.url("/ok"));
      await createTasks(sql, 1);

      const record: MessageStore["record"] = ({ id, epoch }) =>
        sql.begin(async (tx) => {
          await tx`
          select private.record_webhook_attempt(${id}, ${epoch}::bigint, 1, 204, null, null)`;
          throw new Error("The worker dies");
        });
      await work({ ...ports, store: { ...store, record } });
      assert.deepEqual(await sendAfterDeath(), 2);
    },
  );

  /** Expires the dead worker's lease, and returns how often the message was sent in total. */
  async function sendAfterDeath(): Promise<number> {
    const [dead] = await messages(sql);
    assert.equal(dead?.status, "running");
    assert.equal(dead.attempts, 0, "nothing is partially written");
    await sql`update public.webhook_messages set lease_expires_at = now() - interval '1 second'`;
    await work(ports);
    assert.equal((await messages(sql))[0]?.status, "delivered");
    const ids = receiver.take().map(({ headers }) => headers.get("webhook-id"));
    assert.deepEqual(new Set(ids), new Set([dead.id]), "a repeated message has the same id");
    return ids.length;
  }

  await t.step("concurrent workers send each message once", async () => {
    await addWebhook(sql, receiver.url("/ok"));
    await createTasks(sql, 60);

    await Promise.all(Array.from({ length: 4 }, () => work(ports)));

    const ids = receiver.take().map(({ headers }) => headers.get("webhook-id"));
    assert.equal(ids.length, 60);
    assert.equal(new Set(ids).size, 60);
  });

  await t.step("a task is created even if its message cannot be written", async () => {
    await addWebhook(sql, receiver.url("/ok"));
    await sql`alter table public.webhook_messages add constraint broken check (false) not valid`;

    const ids = await createTasks(sql, 1);

    assert.equal(ids.length, 1);
    await sql`alter table public.webhook_messages drop constraint broken`;
  });
});

/** The only webhook from now on; messages of earlier ones are deleted. */
async function addWebhook(sql: Sql, url: string): Promise<string> {
  await sql`delete from public.webhooks`;
  const [webhook] = await sql`
    insert into public.webhooks (url, events) values (${url}, '{task.created}') returning id`;
  await sql`select public.rotate_webhook_secret(${webhook?.id}, ${SECRET})`;
  await sql`update public.webhooks set previous_secret_until = null`;
  return String(webhook?.id);
}

/** A user with this many webhooks to one address. */
async function addOwner(sql: Sql, webhookCount: number, url: string): Promise<string> {
  const id = crypto.randomUUID();
  await sql`insert into auth.users (id, email) values (${id}, ${`${id}@example.org`})`;
  await sql`
    insert into public.webhooks (created_by, url, events)
    select ${id}, ${url}, '{task.created}' from generate_series(1, ${webhookCount}::int)`;
  return id;
}

/** Adds messages for each webhook of an owner. */
async function queueMessages(sql: Sql, owner: string, count: number): Promise<void> {
  await sql`
    insert into public.webhook_messages (webhook_id, task_id, type, payload)
    select webhook.id, (select id from public.tasks limit 1), 'task.created', '{}'
    from public.webhooks as webhook, generate_series(1, ${count}::int)
    where webhook.created_by = ${owner}`;
}

async function countOf(sql: Sql, owner: string): Promise<{ running: number; delivered: number }> {
  const [row] = await sql<{ running: number; delivered: number }[]>`
    select count(*) filter (where message.status = 'running')::int as running,
      count(*) filter (where message.status = 'delivered')::int as delivered
    from public.webhook_messages as message
    join public.webhooks as webhook on webhook.id = message.webhook_id
    where webhook.created_by = ${owner}`;
  return { running: row?.running ?? 0, delivered: row?.delivered ?? 0 };
}

/** Runs a worker until it finds nothing to do. */
async function work(ports: WebhookPorts, meanwhile?: () => Promise<void>): Promise<void> {
  const worker = createWebhookWorker({
    id: crypto.randomUUID(),
    ports,
    lifetime: createLifetime(3_600),
    leaseSeconds: 60,
    idleSeconds: 0.1,
  });
  await Promise.all([worker.run(), meanwhile?.()]);
}

interface Message {
  readonly id: string;
  readonly status: string;
  readonly attempts: number;
  readonly error: { readonly message: string } | null;
  readonly log: unknown;
}

async function messages(sql: Sql): Promise<Message[]> {
  return [
    ...await sql<Message[]>`
      select id, status, attempts, error, log from public.webhook_messages order by id`,
  ];
}

interface Received {
  readonly headers: Headers;
  readonly body: string;
}

function signatureOf({ headers, body }: Received): string {
  const signed = `${headers.get("webhook-id")}.${headers.get("webhook-timestamp")}.${body}`;
  const key = atob(SECRET.slice("whsec_".length));
  const hmac = createHmac("sha256", Uint8Array.from(key, (c) => c.charCodeAt(0)));
  return `v1,${hmac.update(signed).digest("base64")}`;
}

/** A server that behaves as the path requests, until it is healed. */
function startReceiver() {
  const received: Received[] = [];
  let isHealed = false;
  const released = Promise.withResolvers<void>();
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const { pathname } = new URL(request.url);
    received.push({ headers: request.headers, body: await request.text() });
    if (isHealed || pathname === "/ok") return new Response(null, { status: 204 });
    if (pathname === "/redirect") {
      return new Response(null, { status: 307, headers: { location: "http://127.0.0.1:9/" } });
    }
    if (pathname !== "/silent") return new Response(null, { status: Number(pathname.slice(1)) });
    await released.promise;
    return new Response(null);
  });
  return {
    url(path: string) {
      isHealed = false;
      return `http://127.0.0.1:${server.addr.port}${path}`;
    },
    take: () => received.splice(0),
    heal: () => isHealed = true,
    /** Answers the requests that wait, and all later ones. */
    release: released.resolve,
    async [Symbol.asyncDispose]() {
      released.resolve();
      await server.shutdown();
    },
  };
}
