import assert from "node:assert/strict";
import { PROJECT_ROOT } from "../../scripts/project_root.ts";
import { openDatabase } from "../../scripts/stack/database/open_database.ts";
import { createSql, type Sql } from "../../shared/db/sql_client.ts";
import { createGuardedFetch } from "../../shared/net/guarded_fetch.ts";
import { createEmbedderResolver } from "../../shared/quoth/embedders/resolve_embedder.ts";
import { type RawAnswer, respond, startRawServer } from "../llm/raw_server.ts";
import { axis, WIRES } from "./embedder_wire.ts";

const NEVER = new AbortController().signal;

Deno.test("an embedder of the database keeps to its limits", async (t) => {
  const database = await openDatabase({
    db: "pglite",
    dataDir: "",
    ephemeral: true,
    projectRoot: PROJECT_ROOT,
    log: () => {},
  });
  const sql = createSql(database.url, { maxConnections: 2, applicationName: "embedder-test" });
  try {
    await t.step("embeds as many documents as there is room for, and queries beside", async () => {
      await using world = await addEmbedder(sql, { name: "roomy" });

      const first = await world.metered.embedPart(documents(20), NEVER);
      const second = await world.metered.embedPart(documents(8), NEVER);
      const query = await world.metered.embedQuery("how?", NEVER);

      assert.equal(first.vectors.length, 12);
      assert.ok(first.waitMs > 55_000 && first.waitMs <= 61_000, String(first.waitMs));
      assert.deepEqual({ ...second, waitMs: 0 }, {
        vectors: [],
        waitMs: 0,
        pausedUntil: null,
        pauseReason: null,
      });
      assert.equal(query.length, 768);
      assert.deepEqual(world.batchSizes(), [12, 1]);
    });

    await t.step("sends no more than a batch at once", async () => {
      await using world = await addEmbedder(sql, { name: "small", batch: 5 });

      const { vectors, waitMs } = await world.metered.embedPart(documents(20), NEVER);

      assert.deepEqual({ count: vectors.length, waitMs }, { count: 5, waitMs: 0 });
    });

    await t.step("lets every instance wait when the provider says so", async () => {
      await using world = await addEmbedder(sql, { name: "told" }, tooEarly);

      const part = await world.metered.embedPart(documents(2), NEVER);
      const again = await world.metered.embedPart(documents(2), NEVER);

      assert.equal(part.vectors.length, 0);
      assert.equal(part.pauseReason, "rate_limited");
      assert.ok(part.waitMs > 28_000 && part.waitMs <= 30_000, String(part.waitMs));
      assert.ok(again.waitMs > 25_000 && again.waitMs <= part.waitMs, String(again.waitMs));
      await assert.rejects(world.metered.embedQuery("how?", NEVER), {
        code: "EMBEDDER_RATE_LIMITED",
      });
      assert.equal(world.batchSizes().length, 1);
    });

    await t.step("rests until the day's quota comes back, and says until when", async () => {
      await using world = await addEmbedder(sql, { name: "spent" }, quotaSpent);

      await assert.rejects(world.metered.embedQuery("how?", NEVER), {
        code: "EMBEDDER_QUOTA_EXHAUSTED",
      });
      const part = await world.metered.embedPart(documents(2), NEVER);

      assert.equal(part.pauseReason, "quota_exhausted");
      assert.ok(part.pausedUntil !== null && part.pausedUntil.getTime() > Date.now());
      assert.equal(world.batchSizes().length, 1);
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

    await t.step("is not found under another name, nor without its key", async () => {
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

const tooEarly: RawAnswer = (connection) =>
  respond(connection, { status: 429, headers: { "retry-after": "30" }, body: "slow down" });

const quotaSpent: RawAnswer = (connection) =>
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

/** Adds an embedder of 15 texts a minute, 3 of them for queries, whose provider answers so or rightly. */
async function addEmbedder(
  sql: Sql,
  { name, batch = 100 }: { readonly name: string; readonly batch?: number },
  answer?: RawAnswer,
) {
  const wire = WIRES[0];
  assert.ok(wire !== undefined);
  const server = startRawServer((connection, number) => {
    if (answer !== undefined) return answer(connection, number);
    const texts = wire.texts(server.requests[number - 1]?.body ?? "{}");
    return respond(connection, { body: wire.vectors(texts.map((_, place) => axis(place))) });
  });
  await sql`
    insert into public.embedders (name, api, base_url, model, model_dimensions, window_tokens,
      max_batch_items, items_per_minute, reserved_for_queries)
    values (${name}, 'google', ${server.origin}, 'model-1', 768, 480, ${batch}, 15, 3)`;
  const { metered } = await createEmbedderResolver(sql, ports)(name);
  return {
    metered,
    batchSizes: () => server.requests.map(({ body }) => wire.texts(body).length),
    [Symbol.asyncDispose]: () => server.stop(),
  };
}
