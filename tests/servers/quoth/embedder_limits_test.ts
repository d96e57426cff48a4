import assert from "node:assert/strict";
import { PROJECT_ROOT } from "../../../scripts/project_root.ts";
import { openDatabase } from "../../../stack/open_database.ts";
import { createSql, type Sql } from "../../../shared/platform/db/sql_client.ts";
import type { SwarmError } from "../../../shared/platform/errors/swarm_error.ts";
import { createGuardedFetch } from "../../../shared/platform/net/guarded_fetch.ts";
import { createEmbedderResolver } from "../../../shared/servers/quoth/embedders/resolve_embedder.ts";
import { respond, startRawServer } from "../../models/llm/raw_server.ts";
import { axis, WIRES } from "./embedder_wire.ts";

const NEVER = new AbortController().signal;

Deno.test("an embedder in the database respects its limits", async (t) => {
  const database = await openDatabase({
    db: "pglite",
    dataDir: null,
    projectRoot: PROJECT_ROOT,
    log: () => {},
  });
  const sql = createSql(database.url, { maxConnections: 2, applicationName: "embedder-test" });
  try {
    await t.step("embeds documents up to the limit, and queries in addition", async () => {
      await using world = await addEmbedder(sql, { name: "roomy" });

      const first = await world.metered.embedPart(documents(20), NEVER);
      const second = await world.metered.embedPart(documents(8), NEVER);
      const query = await world.metered.embedQuery("how?", NEVER);

      assert.equal(first.vectors.length, 12);
      assertWaits(first.wait, "EMBEDDER_RATE_LIMITED", { from: 55, to: 61 });
      assert.deepEqual(second.vectors, []);
      assertWaits(second.wait, "EMBEDDER_RATE_LIMITED", { from: 55, to: 61 });
      assert.equal(query.length, 768);
      assert.deepEqual(world.batchSizes(), [12, 1]);
    });

    await t.step("sends at most one batch at a time", async () => {
      await using world = await addEmbedder(sql, { name: "small", batch: 5 });

      const { vectors, wait } = await world.metered.embedPart(documents(20), NEVER);

      assert.deepEqual({ count: vectors.length, wait }, { count: 5, wait: null });
    });

    await t.step("makes every instance wait when the provider requests it", async () => {
      await using world = await addEmbedder(sql, { name: "rate-limited" }, tooEarly);

      const part = await world.metered.embedPart(documents(2), NEVER);
      const again = await world.metered.embedPart(documents(2), NEVER);

      assert.equal(part.vectors.length, 0);
      assertWaits(part.wait, "EMBEDDER_RATE_LIMITED", { from: 28, to: 30 });
      assertWaits(again.wait, "EMBEDDER_RATE_LIMITED", { from: 25, to: 30 });
      await assert.rejects(world.metered.embedQuery("how?", NEVER), {
        code: "EMBEDDER_RATE_LIMITED",
      });
      assert.equal(world.batchSizes().length, 1);
    });

    await t.step("pauses until the day's quota is reset, and reports until when", async () => {
      await using world = await addEmbedder(sql, { name: "spent" }, quotaSpent);

      await assert.rejects(world.metered.embedQuery("how?", NEVER), {
        code: "EMBEDDER_QUOTA_EXHAUSTED",
      });
      const part = await world.metered.embedPart(documents(2), NEVER);

      assertWaits(part.wait, "EMBEDDER_QUOTA_EXHAUSTED", { from: 0, to: 86_400 });
      assert.equal(world.batchSizes().length, 1);
    });

    for (const [status, what] of [[401, "key"], [404, "model"]] as const) {
      await t.step(`is paused when it rejects the ${what}, until that is fixed`, async () => {
        let isRepaired = false;
        await using world = await addEmbedder(
          sql,
          { name: `no-${what}` },
          (connection, texts) =>
            respond(
              connection,
              isRepaired
                ? answerTo(texts)
                : { status, body: '{"error":{"message":"No such thing"}}' },
            ),
        );

        const part = await world.metered.embedPart(documents(2), NEVER);
        const again = await world.metered.embedPart(documents(2), NEVER);

        assert.deepEqual([part.vectors, again.vectors], [[], []]);
        for (const wait of [part.wait, again.wait]) {
          assertWaits(wait, "EMBEDDER_REFUSED", { from: 890, to: 900 });
          assert.match(wait?.message ?? "", /No such thing \(HTTP 40\d\); the next try is at 20/);
        }
        await assert.rejects(world.metered.embedQuery("how?", NEVER), {
          code: "EMBEDDER_REFUSED",
        });
        assert.equal(world.batchSizes().length, 1);

        isRepaired = true;
        await sql`update public.embedders set reserved_for_queries = 2 where name = ${`no-${what}`}`;
        assert.equal((await world.metered.embedQuery("how?", NEVER)).length, 768);
      });
    }

    const perhapsTheText: readonly (readonly [string, Answer, RegExp])[] = [
      ["returns vectors of another length", tooLong, /have 3072 numbers, not 768/],
      ["refuses every request", refuseWith(400), /Nothing for you \(HTTP 400\)/],
      ["forbids everything", refuseWith(403), /Nothing for you \(HTTP 403\)/],
    ];
    for (const [what, answer, reason] of perhapsTheText) {
      await t.step(`is paused when it ${what}, and no text fails`, async () => {
        await using world = await addEmbedder(sql, { name: what }, answer);

        await assert.rejects(world.metered.embedPart(documents(4), NEVER), { message: reason });
        const { vectors, wait } = await world.metered.embedPart(documents(1), NEVER);

        assert.deepEqual(vectors, []);
        assertWaits(wait, "EMBEDDER_REFUSED", { from: 890, to: 900 });
        assert.match(wait?.message ?? "", reason);
        // All, one by itself, and a harmless one.
        assert.deepEqual(world.batchSizes(), [4, 1, 1]);
      });
    }

    await t.step("continues when it refuses one text and accepts another", async () => {
      for (const [name, status] of [["picky", 400], ["walled", 403]] as const) {
        await using world = await addEmbedder(sql, { name }, (connection, texts) =>
          respond(
            connection,
            texts.includes("text 0") ? { status, body: '{"error":{}}' } : answerTo(texts),
          ));

        await assert.rejects(world.metered.embedPart(documents(1), NEVER), {
          code: "EMBEDDER_TEXT_REFUSED",
        });
        await assert.rejects(world.metered.embedQuery("text 0", NEVER));
        assert.equal((await world.metered.embedQuery("how?", NEVER)).length, 768);
      }
    });

    await t.step("passes on every other failure", async () => {
      await using world = await addEmbedder(
        sql,
        { name: "broken" },
        (connection) => respond(connection, { status: 500, body: "oops" }),
      );

      await assert.rejects(world.metered.embedPart(documents(2), NEVER), {
        code: "EMBEDDER_UNAVAILABLE",
      });
    });

    await t.step("is not found under another name, or without its key", async () => {
      const resolve = createEmbedderResolver(sql, ports);

      await assert.rejects(resolve("nobody"), { code: "EMBEDDER_NOT_FOUND" });
      await assert.rejects(resolve("gemini-embedding-001@768"), { code: "EMBEDDER_KEY_MISSING" });
      assert.equal((await resolve("hash768@1")).embedder.windowTokens, 480);
    });
  } finally {
    await sql.end({ timeout: 1 });
    await database.stop();
  }
});

const ports = {
  transport: { fetch: createGuardedFetch({ allowLoopback: true }), nowMs: () => Date.now() },
};

const [wire] = WIRES;

/** A provider's response to a request with these texts. */
type Answer = (connection: Deno.TcpConn, texts: readonly string[]) => Promise<void>;

const answerTo = (texts: readonly string[]) => ({
  body: wire.vectors(texts.map((_, place) => axis(place))),
});

const tooLong: Answer = (connection, texts) =>
  respond(connection, { body: wire.vectors(texts.map((_, place) => axis(place, 3_072))) });

const refuseWith = (status: number): Answer => (connection) =>
  respond(connection, { status, body: '{"error":{"message":"Nothing for you"}}' });

const tooEarly: Answer = (connection) =>
  respond(connection, { status: 429, headers: { "retry-after": "30" }, body: "slow down" });

const quotaSpent: Answer = (connection) =>
  respond(connection, {
    status: 429,
    body: JSON.stringify({
      error: {
        message: "Quota",
        details: [{ violations: [{ quotaId: "EmbedContentRequestsPerDayPerProject" }] }],
      },
    }),
  });

function documents(count: number) {
  return Array.from({ length: count }, (_, n) => ({ title: "T", text: `text ${n}` }));
}

/**
 * Adds an embedder of 15 texts a minute, 3 of them for queries, whose provider uses this response
 * or a correct one.
 */
async function addEmbedder(
  sql: Sql,
  { name, batch = 100 }: { readonly name: string; readonly batch?: number },
  answer: Answer = (connection, texts) => respond(connection, answerTo(texts)),
) {
  const textsOf = (body: string | undefined) => wire.texts(body ?? '{"requests":[]}');
  const server = startRawServer((connection, number) =>
    answer(connection, textsOf(server.requests[number - 1]?.body))
  );
  await sql`
    insert into public.embedders (name, api, base_url, model, model_dimensions, window_tokens,
      max_batch_items, items_per_minute, reserved_for_queries)
    values (${name}, 'google', ${server.origin}, 'model-1', 768, 480, ${batch}, 15, 3)`;
  const { metered } = await createEmbedderResolver(sql, ports)(name);
  return {
    metered,
    batchSizes: () => server.requests.map(({ body }) => textsOf(body).length),
    [Symbol.asyncDispose]: () => server.stop(),
  };
}

function assertWaits(
  wait: SwarmError | null,
  code: string,
  seconds: { readonly from: number; readonly to: number },
): void {
  assert.equal(wait?.code, code);
  const waitSeconds = wait?.retryAfterSeconds ?? NaN;
  assert.ok(waitSeconds > seconds.from && waitSeconds <= seconds.to, `${waitSeconds} s`);
}
