import assert from "node:assert/strict";
import type { Sql } from "../../shared/platform/db/sql_client.ts";
import { seededRandom } from "../../scripts/seeded_random.ts";
import { assertNoDeadlock, inLanes, openRaceTrack, printFigures } from "./race_fixture.ts";

const ITEMS_PER_MINUTE = 20;
const RESERVED = 5;
const MINUTE_MS = 60_000;
const START_MS = Date.parse("2026-01-01T00:00:00Z");

interface Request {
  readonly embedder: string;
  readonly items: number;
  readonly isQuery: boolean;
  /** Virtual time since the start; null for the real time. */
  readonly atMs: number | null;
}

interface Granted {
  readonly atMs: number;
  readonly items: number;
  readonly isQuery: boolean;
}

Deno.test("an embedder's limit applies to all instances together", async (t) => {
  await using track = await openRaceTrack();
  const { sql } = track;
  await keepGrants(sql);

  await t.step("every minute stays below the limit, whoever asks and when: 10 rounds", async () => {
    const random = seededRandom(11);
    const rounds = 10;
    let total = 0;
    for (let round = 0; round < rounds; round++) {
      const embedder = await addEmbedder(sql, `round-${round}`);
      const durationMs = 6 * MINUTE_MS;
      const requests = Array.from({ length: 240 }, (_, turn): Request => ({
        embedder,
        items: 1 + Math.floor(random() * 8),
        isQuery: random() < 0.25,
        // Almost in order: clocks and latencies of instances differ.
        atMs: Math.max(0, (turn / 240) * durationMs + (random() - 0.5) * 4_000),
      }));

      const answers = await inLanes(16, requests, (request) => take(sql, request));

      const grants = await readGrants(sql, embedder);
      assertWithinLimits(grants);
      assert.equal(sumOf(grants), answers.reduce((sum, granted) => sum + granted, 0));
      // Demand is nine times the limit, so the whole limit must be used.
      assert.ok(sumOf(grants) >= ITEMS_PER_MINUTE * 5, `only ${sumOf(grants)} were granted`);
      assert.ok(grants.some(({ isQuery }) => isQuery), "queries got no grants");
      total += sumOf(grants);
    }
    printFigures({ rounds, requests: rounds * 240, granted: total });
  });

  await t.step("a hundred concurrent requests share the limit", async () => {
    const embedder = await addEmbedder(sql, "at-once");
    const ask = (isQuery: boolean) => ({ embedder, items: 1, isQuery, atMs: null });

    const documents = await inLanes(
      16,
      Array.from({ length: 100 }),
      () => take(sql, ask(false)),
    );
    const queries = await inLanes(16, Array.from({ length: 100 }), () => take(sql, ask(true)));

    assert.equal(documents.reduce((a, b) => a + b, 0), ITEMS_PER_MINUTE - RESERVED);
    assert.equal(queries.reduce((a, b) => a + b, 0), RESERVED);
  });

  await t.step("a caller that waits as long as requested is served", async () => {
    const embedder = await addEmbedder(sql, "patient");
    let nowMs = 0;
    let embedded = 0;
    let asked = 0;
    while (embedded < 100) {
      const [row] = await sql`
        select granted, wait_ms from private.take_embedding_tokens(
          ${embedder}, ${100 - embedded}::int, false, ${new Date(START_MS + nowMs)})`;
      embedded += Number(row?.granted);
      nowMs += Number(row?.wait_ms);
      asked++;
    }

    // Fifteen immediately, and the same a minute and a second later: seven times, always with
    // success.
    assert.deepEqual({ asked, nowMs }, { asked: 7, nowMs: 6 * 61_000 });
  });

  await t.step("no statement was a deadlock victim", () => assertNoDeadlock(track));
});

/** Grants are deleted after a minute; the test needs all of them. */
async function keepGrants(sql: Sql): Promise<void> {
  await sql.unsafe(`
    create table public.kept_grants (embedder text, granted_at timestamptz, item_count int, is_query boolean);
    create function public.keep_grant() returns trigger language plpgsql as $$
    begin
      insert into public.kept_grants values (new.embedder, new.granted_at, new.item_count, new.is_query);
      return null;
    end $$;
    create trigger keep_grant after insert on private.embedding_grants
    for each row execute function public.keep_grant();
  `);
}

async function addEmbedder(sql: Sql, name: string): Promise<string> {
  await sql`
    insert into public.embedders (name, api, model, model_dimensions, window_tokens, max_batch_items,
      items_per_minute, reserved_for_queries)
    values (${name}, 'openai', 'm', 768, 480, 100, ${ITEMS_PER_MINUTE}, ${RESERVED})`;
  return name;
}

async function take(sql: Sql, { embedder, items, isQuery, atMs }: Request): Promise<number> {
  const at = atMs === null ? null : new Date(START_MS + atMs);
  const [row] = await sql`
    select granted from private.take_embedding_tokens(${embedder}, ${items}::int, ${isQuery}, ${at})`;
  return Number(row?.granted);
}

async function readGrants(sql: Sql, embedder: string): Promise<Granted[]> {
  const rows = await sql<{ granted_at: Date; item_count: number; is_query: boolean }[]>`
    select granted_at, item_count, is_query from public.kept_grants
    where embedder = ${embedder} order by granted_at`;
  return rows.map(({ granted_at, item_count, is_query }) => ({
    atMs: granted_at.getTime(),
    items: item_count,
    isQuery: is_query,
  }));
}

/** Every minute that ends with a grant; a fuller minute cannot end elsewhere. */
function assertWithinLimits(grants: readonly Granted[]): void {
  for (const { atMs } of grants) {
    const minute = grants.filter((grant) => grant.atMs > atMs - MINUTE_MS && grant.atMs <= atMs);
    assert.ok(sumOf(minute) <= ITEMS_PER_MINUTE, `${sumOf(minute)} items in a minute`);
    const documents = sumOf(minute.filter(({ isQuery }) => !isQuery));
    assert.ok(documents <= ITEMS_PER_MINUTE - RESERVED, `${documents} documents in a minute`);
  }
}

function sumOf(grants: readonly Granted[]): number {
  return grants.reduce((sum, { items }) => sum + items, 0);
}
