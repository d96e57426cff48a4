import { deepEqual, equal, match } from "node:assert/strict";
import type { SupabaseClient } from "../deps.ts";
import { waitFor } from "../../scripts/wait_for.ts";
import { type RealtimeFixture, startRealtimeFixture } from "./realtime_fixture.ts";

/** Users read the topic with their name; nobody may send. */
const POLICIES = `
  create policy "users receive" on realtime.messages for select to authenticated
    using (split_part(realtime.topic(), ':', 1) = auth.uid()::text);`;

const USER = "00000000-0000-4000-8000-000000000001";
const OTHER = "00000000-0000-4000-8000-000000000002";

type Frame = [string | null, string | null, string, string, Record<string, unknown>];

/** A client that joins a topic in protocol 1.0.0 and then stops reading. */
async function openUnreadSocket(stack: RealtimeFixture, topic: string): Promise<Deno.Conn> {
  const { hostname, port, host } = new URL(stack.url);
  const connection = await Deno.connect({ hostname, port: Number(port) });
  const lines = [
    `GET /realtime/v1/websocket?apikey=${stack.publishableKey} HTTP/1.1`,
    `Host: ${host}`,
    "Upgrade: websocket",
    "Connection: Upgrade",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
  ];
  const encoder = new TextEncoder();
  await connection.write(encoder.encode(`${lines.join("\r\n")}\r\n\r\n`));
  await connection.read(new Uint8Array(1024));
  const join = encoder.encode(JSON.stringify({ topic, event: "phx_join", payload: {}, ref: "1" }));
  // A final text frame, masked with zeros, which do not change the text.
  await connection.write(new Uint8Array([0x81, 0x80 | join.length, 0, 0, 0, 0, ...join]));
  await connection.read(new Uint8Array(1024));
  return connection;
}

/** A websocket client written by hand. */
async function openSocket(stack: RealtimeFixture) {
  const address = `${stack.url.replace("http", "ws")}/realtime/v1/websocket`;
  const socket = new WebSocket(`${address}?apikey=${stack.publishableKey}&vsn=2.0.0`);
  const frames: Frame[] = [];
  socket.addEventListener("message", ({ data }) => frames.push(JSON.parse(data)));
  await new Promise((resolve) => socket.addEventListener("open", resolve));
  return {
    socket,
    frames,
    send: (...frame: Frame) => socket.send(JSON.stringify(frame)),
    find: (event: string, topic: string) =>
      waitFor(() => frames.find((frame) => frame[3] === event && frame[2] === topic), {
        what: `${event} of ${topic}`,
      }),
    close: async () => {
      const closed = new Promise((resolve) => socket.addEventListener("close", resolve));
      socket.close();
      await closed;
    },
  };
}

/** Follows a private topic; the list collects the messages that the client receives. */
function follow(client: SupabaseClient, topic: string): string[] {
  const seen: string[] = [];
  client.channel(topic, { config: { private: true } })
    .on("broadcast", { event: "*" }, ({ payload }) => seen.push(`got ${payload.n}`))
    .on("system", {}, ({ message }) => seen.push(message))
    .subscribe((status, error) => seen.push(error ? `${status} ${error.message}` : status));
  return seen;
}

Deno.test("realtime handles connections", async (t) => {
  await using stack = await startRealtimeFixture(POLICIES, { statementLimitMs: 4_000 });
  const { sql } = stack;
  const send = (topic: string, n: number) =>
    sql`select realtime.send(${sql.json({ n })}, 'step', ${topic}, true)`;

  await t.step("an unknown or missing apikey is answered with 401", async () => {
    for (const query of ["?apikey=sb_publishable_other", ""]) {
      const response = await fetch(`${stack.url}/realtime/v1/websocket${query}`, {
        headers: { upgrade: "websocket", connection: "upgrade" },
      });
      const { error } = await response.json();
      equal(response.status, 401);
      match(error, /apikey/);
    }
  });

  await t.step(
    "a request that is not a websocket gets an error, an unknown path is not found",
    async () => {
      const plain = await fetch(
        `${stack.url}/realtime/v1/websocket?apikey=${stack.publishableKey}`,
      );
      const unknown = await fetch(`${stack.url}/realtime/v1/elsewhere`);
      deepEqual([plain.status, unknown.status], [426, 404]);
      await Promise.all([plain.body?.cancel(), unknown.body?.cancel()]);
    },
  );

  await t.step("HTTP broadcasts need a key and a well-formed body", async () => {
    const post = async (key: string, body: string) => {
      const response = await fetch(`${stack.url}/realtime/v1/api/broadcast`, {
        method: "POST",
        headers: { apikey: key },
        body,
      });
      await response.body?.cancel();
      return response.status;
    };
    const good = JSON.stringify({ messages: [{ topic: "t", event: "e", payload: {} }] });
    deepEqual(
      [
        await post("other", good),
        await post(stack.secretKey, "{}"),
        await post(stack.secretKey, good),
      ],
      [401, 422, 202],
    );
  });

  await t.step("heartbeats, leaves and messages without a channel are answered", async () => {
    const { send, find, close } = await openSocket(stack);
    send(null, "1", "phoenix", "heartbeat", {});
    deepEqual(await find("phx_reply", "phoenix"), [
      null,
      "1",
      "phoenix",
      "phx_reply",
      { status: "ok", response: {} },
    ]);
    send("2", "2", "realtime:", "phx_join", {});
    deepEqual((await find("phx_reply", "realtime:"))[4], {
      status: "error",
      response: { reason: "TopicNameRequired: You must provide a topic name" },
    });
    send("3", "3", "realtime:x", "broadcast", { event: "e" });
    deepEqual((await find("phx_reply", "realtime:x"))[4], {
      status: "error",
      response: { reason: "unmatched topic" },
    });
    send("4", "4", "realtime:y", "phx_join", { config: {} });
    await find("phx_reply", "realtime:y");
    send("4", "5", "realtime:y", "phx_leave", {});
    deepEqual(await find("phx_close", "realtime:y"), ["4", "4", "realtime:y", "phx_close", {}]);
    await close();
  });

  await t.step("the 101st channel of a connection is refused", async () => {
    const { send, find, close } = await openSocket(stack);
    for (let n = 1; n <= 101; n++) send(`${n}`, `${n}`, `realtime:c${n}`, "phx_join", {});

    const [, , , , hundredth] = await find("phx_reply", "realtime:c100");
    const [, , , , next] = await find("phx_reply", "realtime:c101");

    equal(hundredth.status, "ok");
    deepEqual(next.response, { reason: "ChannelRateLimitReached: Too many channels" });
    await close();
  });

  await t.step("an invalid frame ends only its own connection", async () => {
    const [broken, other] = [await openSocket(stack), await openSocket(stack)];
    const closed = new Promise<CloseEvent>((resolve) =>
      broken.socket.addEventListener("close", resolve)
    );

    broken.socket.send("not a frame");

    equal((await closed).code, 1003);
    other.send(null, "1", "phoenix", "heartbeat", {});
    await other.find("phx_reply", "phoenix");
    await other.close();
  });

  await t.step("a client that does not read is disconnected, others miss nothing", async () => {
    using _deaf = await openUnreadSocket(stack, "realtime:flood");
    const { send, frames, find, close } = await openSocket(stack);
    send("1", "1", "realtime:flood", "phx_join", {});
    await find("phx_reply", "realtime:flood");
    const message = { topic: "flood", event: "e", payload: { text: "x".repeat(2_000_000) } };

    for (let n = 0; n < 20; n++) {
      const response = await fetch(`${stack.url}/realtime/v1/api/broadcast`, {
        method: "POST",
        headers: { apikey: stack.secretKey },
        body: JSON.stringify({ messages: [message] }),
      });
      await response.body?.cancel();
    }

    await waitFor(() => frames.filter((frame) => frame[3] === "broadcast").length === 20);
    await waitFor(() => stack.logged.includes("realtime.client_too_slow"));
    await close();
  });

  await t.step("join errors name the problem with a token", async () => {
    const { send, find, close } = await openSocket(stack);
    const asked = [
      [
        "expired",
        stack.token(USER, { lifeSeconds: -60 }),
        /^InvalidJWTToken: Token has expired 6\d seconds ago$/,
      ],
      ["garbage", "nonsense", /^MalformedJWT: The token provided is not a valid JWT$/],
      ["forged", `e30.${btoa("{}")}.x`, /^JwtSignatureError: Failed to validate JWT signature$/],
    ] as const;
    for (const [name, access_token, reason] of asked) {
      send("1", name, `realtime:${name}`, "phx_join", { access_token });
      const [, , , , { response }] = await find("phx_reply", `realtime:${name}`);
      match((response as { reason: string }).reason, reason);
    }
    await close();
  });

  await t.step("a new token keeps the channel, one of another user ends it", async () => {
    let token = stack.token(USER);
    const client = await stack.client({ accessToken: () => token });
    const seen = follow(client, `${USER}:a`);
    await waitFor(() => seen.includes("SUBSCRIBED"));

    token = stack.token(USER);
    await client.realtime.setAuth();
    await send(`${USER}:a`, 1);
    await waitFor(() => seen.includes("got 1"));
    token = stack.token(OTHER);
    await client.realtime.setAuth();

    await waitFor(() => seen.includes("CLOSED"));
    match(seen.at(-2) ?? "", /^You (no longer|do not) have permissions? to read from this Channel/);
    await client.removeAllChannels();
  });

  await t.step("an expired token closes the channel with the reason", async () => {
    let token = stack.token(USER);
    const client = await stack.client({ accessToken: () => token });
    client.realtime.connect();
    await waitFor(() => client.realtime.isConnected(), { what: "the connection" });
    // Only the join happens during the life of this token.
    token = stack.token(USER, { lifeSeconds: 15 });
    await client.realtime.setAuth();
    const seen = follow(client, `${USER}:b`);

    await waitFor(() => seen.includes("CLOSED"));

    deepEqual([seen[0], seen.at(-1)], ["SUBSCRIBED", "CLOSED"]);
    match(seen[1] ?? "", /^Token has expired \d+ seconds ago$/);
    await client.removeAllChannels();
  });

  await t.step("a client reconnects after the server was restarted", async () => {
    const token = stack.token(USER);
    const client = await stack.client({ accessToken: () => token });
    const seen = follow(client, `${USER}:c`);
    await waitFor(() => seen.includes("SUBSCRIBED"));

    await stack.restartServer();

    await waitFor(() => seen.filter((entry) => entry === "SUBSCRIBED").length === 2);
    await send(`${USER}:c`, 2);
    await waitFor(() => seen.includes("got 2"));
    await client.removeAllChannels();
  });

  await t.step("a restart of the database loses no committed message", async () => {
    const token = stack.token(USER);
    const client = await stack.client({ accessToken: () => token });
    const seen = follow(client, `${USER}:d`);
    await waitFor(() => seen.includes("SUBSCRIBED"));
    const setTrigger = (state: "enable" | "disable") =>
      sql.begin(async (transaction) => {
        await transaction`set local role supabase_admin`;
        await transaction.unsafe(`alter table realtime.messages ${state} trigger announce_message`);
      });

    // A notification lost with the process looks like one that was never sent.
    await setTrigger("disable");
    await send(`${USER}:d`, 1);
    await setTrigger("enable");
    await sql`do 'begin loop end loop; end'`.catch(() => {});
    await waitFor(() => send(`${USER}:d`, 2).then(() => true, () => false));

    await waitFor(() => seen.includes("got 1") && seen.includes("got 2"));
    deepEqual(seen.filter((entry) => entry.startsWith("got")).toSorted(), ["got 1", "got 2"]);
    await client.removeAllChannels();
  });
});
