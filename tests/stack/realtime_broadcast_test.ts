import { deepEqual, equal, ok } from "node:assert/strict";
import type { RealtimeChannel, SupabaseClient } from "../deps.ts";
import { waitFor } from "../../scripts/wait_for.ts";
import { startRealtimeFixture } from "./realtime_fixture.ts";

/** A topic belongs to the user whose id is its prefix; only owners may send to `…:open`. */
const POLICIES = `
  create policy "owners receive" on realtime.messages for select to authenticated
    using (
      extension in ('broadcast', 'presence')
      and split_part(realtime.topic(), ':', 1) = auth.uid()::text);
  create policy "owners send" on realtime.messages for insert to authenticated
    with check (
      extension = 'broadcast'
      and realtime.topic() = auth.uid()::text || ':open');`;

const OWNER = "00000000-0000-4000-8000-000000000001";
const STRANGER = "00000000-0000-4000-8000-000000000002";

interface Received {
  readonly event: string;
  readonly payload: Record<string, unknown>;
}

interface Subscription {
  readonly channel: RealtimeChannel;
  readonly received: Received[];
  /** The latest report of `subscribe`, with the error's text. */
  readonly status: string;
}

/** Joins and waits for the server's answer. */
async function join(
  client: SupabaseClient,
  topic: string,
  options: { isPrivate?: boolean; ack?: boolean; self?: boolean } = {},
): Promise<Subscription> {
  const { isPrivate = true, ack = false, self = false } = options;
  const received: Received[] = [];
  const statuses: string[] = [];
  const channel = client.channel(topic, {
    config: { private: isPrivate, broadcast: { ack, self } },
  });
  channel.on(
    "broadcast",
    { event: "*" },
    ({ event, payload }) => received.push({ event, payload }),
  );
  channel.subscribe((status, error) =>
    statuses.push(error ? `${status} ${error.message}` : status)
  );
  await waitFor(() => statuses.length > 0, { what: `an answer to joining ${topic}` });
  return {
    channel,
    received,
    get status() {
      return statuses.at(-1) ?? "";
    },
  };
}

Deno.test("realtime broadcasts messages", async (t) => {
  await using stack = await startRealtimeFixture(POLICIES);
  const { sql } = stack;
  const [ownerToken, strangerToken] = [stack.token(OWNER), stack.token(STRANGER)];
  const owner = await stack.client({ accessToken: () => ownerToken });
  const stranger = await stack.client({ accessToken: () => strangerToken });
  const send = (topic: string, n: number, isPrivate = true) =>
    sql`select realtime.send(${sql.json({ n })}, 'step', ${topic}, ${isPrivate})`;
  const numbers = ({ received }: Subscription) => received.map(({ payload }) => payload.n);

  await t.step("an owner receives private messages from the database in order", async () => {
    const mine = await join(owner, `${OWNER}:task`);

    for (const n of [1, 2, 3]) await send(`${OWNER}:task`, n);

    await waitFor(() => mine.received.length === 3);
    deepEqual(numbers(mine), [1, 2, 3]);
    equal(mine.received[0]?.event, "step");
    await owner.removeChannel(mine.channel);
  });

  await t.step("a stranger's join is refused with the reason", async () => {
    const refused = await join(stranger, `${OWNER}:task`);

    equal(
      refused.status,
      "CHANNEL_ERROR Unauthorized: You do not have permissions to read from this Channel topic: " +
        `${OWNER}:task`,
    );
    await stranger.removeChannel(refused.channel);
  });

  await t.step("a client with only the publishable key is refused too", async () => {
    const anonymous = await stack.client();

    const refused = await join(anonymous, `${OWNER}:task`);

    ok(refused.status.startsWith("CHANNEL_ERROR Unauthorized"), refused.status);
    await anonymous.removeChannel(refused.channel);
  });

  await t.step("private and public channels of one topic are separate", async () => {
    const inside = await join(owner, `${OWNER}:both`);
    const outside = await join(stranger, `${OWNER}:both`, { isPrivate: false });

    await send(`${OWNER}:both`, 1, true);
    await send(`${OWNER}:both`, 2, false);

    await waitFor(() => inside.received.length > 0 && outside.received.length > 0);
    deepEqual([numbers(inside), numbers(outside)], [[1], [2]]);
    await owner.removeChannel(inside.channel);
    await stranger.removeChannel(outside.channel);
  });

  await t.step("500 messages of one transaction all arrive, in order", async () => {
    const mine = await join(owner, `${OWNER}:many`);

    await sql.begin(async (transaction) => {
      for (let n = 0; n < 500; n++) {
        await transaction`
          select realtime.send(${sql.json({ n })}, 'step', ${`${OWNER}:many`}, true)`;
      }
    });

    await waitFor(() => mine.received.length >= 500);
    deepEqual(numbers(mine), Array.from({ length: 500 }, (_, n) => n));
    await owner.removeChannel(mine.channel);
  });

  await t.step("a transaction that is rolled back sends nothing", async () => {
    const mine = await join(owner, `${OWNER}:undone`);

    await sql.begin(async (transaction) => {
      await transaction`select realtime.send('{"n": 1}', 'step', ${`${OWNER}:undone`}, true)`;
      throw new Error("undo");
    }).catch(() => {});
    await send(`${OWNER}:undone`, 2);

    await waitFor(() => mine.received.length > 0);
    deepEqual(numbers(mine), [2]);
    await owner.removeChannel(mine.channel);
  });

  for (const vsn of ["1.0.0", "2.0.0"] as const) {
    await t.step(`clients of ${vsn} send to each other, with an acknowledgement`, async () => {
      const sender = await stack.client({ accessToken: () => ownerToken, vsn });
      const listener = await stack.client({ accessToken: () => ownerToken, vsn });
      const [from, to] = [
        await join(sender, `${OWNER}:open`, { ack: true }),
        await join(listener, `${OWNER}:open`),
      ];

      const answer = await from.channel.send({
        type: "broadcast",
        event: "hello",
        payload: { text: "é" },
      });

      equal(answer, "ok");
      await waitFor(() => to.received.length > 0);
      deepEqual([to.received[0]?.event, to.received[0]?.payload], ["hello", { text: "é" }]);
      equal(from.received.length, 0);
      await sender.removeChannel(from.channel);
      await listener.removeChannel(to.channel);
    });
  }

  await t.step("a client that may only read cannot send", async () => {
    const reader = await join(owner, `${OWNER}:task`, { ack: true, self: true });

    const answer = await reader.channel.send(
      { type: "broadcast", event: "forged", payload: {} },
      { timeout: 300 },
    );

    equal(answer, "timed out");
    equal(reader.received.length, 0);
    await owner.removeChannel(reader.channel);
  });

  await t.step("a stranger cannot send to a private channel, not even over HTTP", async () => {
    const mine = await join(owner, `${OWNER}:open`);
    const forger = stranger.channel(`${OWNER}:open`, { config: { private: true } });

    await forger.httpSend("forged", { n: 1 });
    await owner.channel(`${OWNER}:open`, { config: { private: true } }).httpSend("real", { n: 2 });

    await waitFor(() => mine.received.length > 0);
    deepEqual(mine.received.map(({ event }) => event), ["real"]);
    await owner.removeAllChannels();
  });

  await t.step("binary payloads pass unchanged", async () => {
    const [from, to] = [
      await join(owner, "files", { isPrivate: false }),
      await join(stranger, "files", { isPrivate: false }),
    ];
    const bytes = new Uint8Array([0, 255, 128, 7]);

    await from.channel.send({ type: "broadcast", event: "bytes", payload: bytes.buffer });

    await waitFor(() => to.received.length > 0);
    deepEqual(new Uint8Array(to.received[0]?.payload as unknown as ArrayBuffer), bytes);
    await owner.removeAllChannels();
    await stranger.removeAllChannels();
  });

  await t.step("stored messages are replayed on request", async () => {
    await send(`${OWNER}:replay`, 1);
    await send(`${OWNER}:replay`, 2);
    const received: unknown[] = [];
    const channel = owner.channel(`${OWNER}:replay`, {
      config: { private: true, broadcast: { replay: { since: Date.now() - 60_000, limit: 1 } } },
    });
    channel.on("broadcast", { event: "*" }, (message) => received.push(message));

    channel.subscribe();

    const message = await waitFor(() => received[0]) as Received & { meta: { replayed: boolean } };
    deepEqual([message.payload.n, message.meta.replayed], [2, true]);
    await owner.removeChannel(channel);
  });
});
