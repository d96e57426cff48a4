import assert from "node:assert/strict";
import type { JsonObject, JsonValue } from "../../platform/values/json.ts";
import type { McpMessage } from "./mcp_message.ts";
import { SharedLists } from "./shared_lists.ts";

const URL_OF_ALL = "https://abc.supabase.co/functions/v1/mcp";

function messageOf(
  body: JsonObject,
  { url = URL_OF_ALL, headers = {} }: {
    readonly url?: string;
    readonly headers?: Record<string, string>;
  } = {},
): McpMessage {
  const { method } = body;
  return {
    request: new Request(url, { method: "POST", headers }),
    body,
    methods: typeof method === "string" ? [method] : [],
    toolNames: [],
    clientName: null,
  };
}

const listOf = (id: JsonValue, more: JsonObject = {}) => ({ id, method: "tools/list", ...more });

/** Lists whose answers the test ends, in the order in which they were begun. */
function openLists() {
  let nowMs = 0;
  const lists = new SharedLists(() => nowMs);
  const computed: (() => void)[] = [];
  const ask = async (
    message: McpMessage,
    { identity = "ada", arrivedAtMs = nowMs }: {
      readonly identity?: JsonValue;
      readonly arrivedAtMs?: number;
    } = {},
  ) => {
    const response = await lists.answer({ message, identity, arrivedAtMs }, async ({ body }) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      computed.push(resolve);
      const number = computed.length;
      await promise;
      return Response.json({ ...(body as JsonObject), number });
    });
    return await response.json();
  };
  return {
    ask,
    computed,
    passMs: (ms: number) => nowMs += ms,
    endAll: () => computed.forEach((end) => end()),
  };
}

Deno.test("SharedLists computes one answer for requests at the same time, each with its own id", async () => {
  const { ask, computed, endAll } = openLists();

  const answers = [1, "two", 3].map((id) => ask(messageOf(listOf(id))));
  endAll();

  assert.deepEqual(
    (await Promise.all(answers)).map(({ id, number }) => [id, number]),
    [[1, 1], ["two", 1], [3, 1]],
  );
  assert.equal(computed.length, 1);
});

Deno.test("SharedLists gives a request no answer that was complete before it arrived", async () => {
  const { ask, computed, endAll, passMs } = openLists();
  const first = ask(messageOf(listOf(1)));
  passMs(10);
  endAll();
  await first;

  const waited = await ask(messageOf(listOf(2)), { arrivedAtMs: 5 });
  passMs(1);
  const later = ask(messageOf(listOf(3)));
  endAll();

  assert.deepEqual([waited.number, (await later).number], [1, 2]);
  passMs(2_000);
  const old = ask(messageOf(listOf(4)), { arrivedAtMs: 5 });
  endAll();
  assert.equal((await old).number, 3, "an answer is kept for a second");
  assert.equal(computed.length, 3);
});

Deno.test("SharedLists shares nothing between callers, servers, questions and protocols", async () => {
  const { ask, computed, endAll } = openLists();

  const answers = [
    ask(messageOf(listOf(1))),
    ask(messageOf(listOf(1)), { identity: "eve" }),
    ask(messageOf(listOf(1), { url: `${URL_OF_ALL}/swarm` })),
    ask(messageOf(listOf(1, { params: { cursor: "2" } }))),
    ask(messageOf(listOf(1), { headers: { "mcp-protocol-version": "2026-07-28" } })),
    ask(messageOf(listOf(1), { headers: { origin: "https://app.example.com" } })),
  ];
  endAll();

  assert.equal(new Set((await Promise.all(answers)).map(({ number }) => number)).size, 6);
  assert.equal(computed.length, answers.length);
});

Deno.test("SharedLists shares no call, no batch and no notification", async () => {
  const { ask, computed, endAll } = openLists();
  const bodies = [
    { id: 1, method: "tools/call", params: { name: "look" } },
    { method: "tools/list" },
    { id: null, method: "tools/list" },
  ];

  const answers = bodies.flatMap((body) => [ask(messageOf(body)), ask(messageOf(body))]);
  endAll();

  await Promise.all(answers);
  assert.equal(computed.length, answers.length);
});

Deno.test("SharedLists passes a failure on to all who wait, and computes again after it", async () => {
  const lists = new SharedLists(() => 0);
  let count = 0;
  const fail = () => {
    count++;
    return Promise.reject(new Error("the database is away"));
  };
  const request = { message: messageOf(listOf(1)), identity: "ada", arrivedAtMs: 0 };

  const answers = [lists.answer(request, fail), lists.answer(request, fail)];

  for (const answer of answers) await assert.rejects(answer, /away/);
  await assert.rejects(lists.answer(request, fail), /away/);
  assert.equal(count, 2);
});
