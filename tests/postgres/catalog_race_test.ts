import assert from "node:assert/strict";
import type { Sql } from "../../shared/platform/db/sql_client.ts";
import { waitFor } from "../../scripts/wait_for.ts";
import { readMessages } from "../../shared/servers/catalog/read_messages.ts";
import type { TransactionSql } from "../../shared/vendor/postgres.js";
import { assertNoDeadlock, openRaceTrack } from "./race_fixture.ts";

const CALLERS = 100;

Deno.test("many callers use the catalog and its limits concurrently", async (t) => {
  await using track = await openRaceTrack();
  const { sql } = track;
  const [user] = await sql<{ id: string }[]>`
    insert into auth.users (id, email) values (gen_random_uuid(), 'racer@example.test') returning id`;
  const userId = user?.id ?? "";
  const atOnce = <T>(count: number, work: (place: number) => Promise<T>) =>
    Promise.all(Array.from({ length: count }, (_, place) => work(place)));

  await t.step("a rate limit allows exactly its number of calls", async () => {
    await sql`
      insert into public.tools (slug, name, type, config)
      values ('limited', 'limited', 'internal', '{"server": "limited"}')`;
    const waits = await atOnce(CALLERS, async () => {
      const [row] = await sql<{ wait_ms: number }[]>`
        select private.take_tool_call(id, 'ask', ${userId}, 1, 10) as wait_ms
        from public.tools where slug = 'limited'`;
      return row?.wait_ms ?? 0;
    });
    assert.equal(waits.filter((waitMs) => waitMs === 0).length, 10);
  });

  await t.step("reservations stop at the spending cap", async () => {
    const providerId = await cappedProvider(sql, "reserved", 10_000);
    const passed = await atOnce(CALLERS, () => reserve(sql, providerId, userId));

    // 1,000 micro-USD each.
    assert.equal(passed.filter((id) => id !== null).length, 10);
  });

  await t.step("calls in flight that cost more than expected may exceed the cap", async () => {
    const cap = 20_000;
    const cost = 1_700;
    const providerId = await cappedProvider(sql, "spent", cap);
    let underWay = 0;
    let mostUnderWay = 0;
    await atOnce(CALLERS, async () => {
      const reservation = await reserve(sql, providerId, userId);
      if (reservation === null) return;
      mostUnderWay = Math.max(mostUnderWay, ++underWay);
      await book(sql, { providerId, userId, reservation, cost });
      underWay--;
    });

    const [row] = await sql<{ spent: number }[]>`
      select sum(cost_micro_usd)::int as spent from public.usage_events
      where provider_id = ${providerId}`;
    const spent = row?.spent ?? 0;
    assert.ok(spent >= cap, `${spent} were spent`);
    assert.ok(spent <= cap + mostUnderWay * cost, `${spent} with ${mostUnderWay} under way`);
    assert.equal(await reserve(sql, providerId, userId), null);
  });

  await t.step("a call that waits across the end of the day counts in the new one", async () => {
    const providerId = await cappedProvider(sql, "midnight", 10_000);
    await reserve(sql, providerId, userId);
    await sql.unsafe(`
      create table public.test_day as select now() - interval '1 day' as start_at;
      create or replace function private.cap_period_start(p_cap_period text) returns timestamptz
        language sql set search_path = '' as 'select start_at from public.test_day'`);
    await reserve(sql, providerId, userId);
    let waiting: Promise<string | null> | undefined;

    await sql.begin(async (first) => {
      await first`select from private.model_spending for update`;
      waiting = reserve(sql, providerId, userId);
      await waitFor(async () => {
        const [row] = await sql`
          select count(*)::int as count from pg_stat_activity
          where wait_event_type = 'Lock' and query like '%resolve_provider_secret%'`;
        return row?.count === 1;
      });
      await first`update public.test_day set start_at = now()`;
      const reservation = await reserve(first, providerId, userId);
      await book(first, { providerId, userId, reservation: reservation ?? "", cost: 9_000 });
    });

    assert.ok(await waiting, "9,000 of 10,000 are spent");
    assert.equal(await reserve(sql, providerId, userId), null);
  });

  await t.step(
    "of writers who read the same version one saves, and the others get a conflict",
    async () => {
      const save = (id: string | null, version: number | null, place: number) =>
        asUser(sql, userId, async (tx) => {
          const [row] = await tx<{ saved: Saved }[]>`
          select private.save_ruleset(${id}, 'Style', ${tx.json({ place })}, ${version}) as saved`;
          if (row === undefined) throw new Error("No answer was returned");
          return row.saved;
        });
      const { id = "" } = await save(null, null, 0);

      const matched = await atOnce(20, (place) => save(id, 1, place));
      const unmatched = await atOnce(20, (place) => save(id, null, 100 + place));

      assert.deepEqual(matched.map(({ outcome }) => outcome).sort(), [
        ...Array(19).fill("conflict"),
        "saved",
      ]);
      assert.ok(
        matched.every(({ outcome, current_version }) =>
          outcome === "saved" || current_version === 2
        ),
      );
      assert.deepEqual(
        unmatched.map(({ version = 0 }) => version).sort((one, other) => one - other),
        Array.from({ length: 20 }, (_, place) => place + 3),
      );
      const rows = await sql`
      select content ->> 'place' as place from public.ruleset_versions
      where ruleset_id = ${id} and version > 2`;
      assert.equal(new Set(rows.map(({ place }) => place)).size, 20);
    },
  );

  await t.step("one key creates one message, and a reader misses and repeats none", async () => {
    const id = await createConversation(sql, userId);
    const add = (place: number) =>
      asUser(sql, userId, async (tx) => {
        const [row] = await tx<{ id: string }[]>`
          select private.add_message(${id}, 'user', ${`${place}`}, ${`key-${place % 40}`}) as id`;
        return row?.id;
      });
    await atOnce(40, add);
    const writing = atOnce(CALLERS, (place) => add(place + 20).then(() => addPlain(place)));
    const addPlain = (place: number) =>
      asUser(
        sql,
        userId,
        (tx) => tx`select private.add_message(${id}, 'user', ${`plain ${place}`}, null)`,
      );
    const read: string[] = [];
    let before: string | null = null;
    while (true) {
      const { messages } = await asUser(
        sql,
        userId,
        (tx) => readMessages(tx, { conversationId: id, limit: 7, before }),
      );
      read.push(...messages.map((message) => message.id));
      before = messages.at(-1)?.id ?? before;
      if (messages.length < 7) break;
    }
    await writing;

    const rows = await sql<{ id: string; seq: number }[]>`
      select id, seq from public.messages where conversation_id = ${id} order by seq desc`;
    assert.equal(rows.length, 40 + CALLERS);
    assert.deepEqual(rows.map(({ seq }) => seq), rows.map((_, place) => rows.length - place));
    assert.equal(new Set(read).size, read.length);
    const from = rows.findIndex((row) => row.id === read[0]);
    assert.deepEqual(read, rows.slice(from).map((row) => row.id));
  });

  await t.step("a conversation is deleted while messages arrive", async () => {
    const id = await createConversation(sql, userId);
    const adding = atOnce(
      30,
      (place) =>
        asUser(
          sql,
          userId,
          (tx) => tx`select private.add_message(${id}, 'user', ${`${place}`}, null)`,
        ).then(
          () => "added",
          (error) => String(error.detail),
        ),
    );
    const deleting = asUser(sql, userId, (tx) => tx`select private.delete_conversation(${id})`);

    const outcomes = new Set(await adding);
    await deleting;
    const [left] = await sql`
      select count(*)::int as count from public.messages where conversation_id = ${id}`;
    assert.equal(left?.count, 0);
    for (const outcome of outcomes) {
      assert.ok(["added", "CONVERSATION_NOT_FOUND"].includes(outcome), outcome);
    }
  });

  await assertNoDeadlock(track);
});

interface Saved {
  readonly outcome: string;
  readonly id?: string;
  readonly version?: number;
  readonly current_version?: number;
}

async function asUser<T>(
  sql: Sql,
  userId: string,
  work: (tx: TransactionSql) => Promise<T>,
): Promise<T> {
  const claims = JSON.stringify({ sub: userId, role: "authenticated" });
  // postgres.js widens the result type to that of arrays of queries.
  return await sql.begin(async (tx) => {
    await tx`select set_config('request.jwt.claims', ${claims}, true)`;
    await tx`set local role authenticated`;
    return await work(tx);
  }) as T;
}

async function createConversation(sql: Sql, userId: string): Promise<string> {
  return await asUser(sql, userId, async (tx) => {
    const [row] = await tx<{ id: string }[]>`select private.create_conversation('Race') as id`;
    return row?.id ?? "";
  });
}

/** A provider whose model costs one millionth of a dollar per token, with a cap for everyone. */
async function cappedProvider(sql: Sql, name: string, capMicroUsd: number): Promise<string> {
  const [provider] = await sql<{ id: string }[]>`
    insert into public.llm_providers
      (name, display_name, default_model, requires_api_key, api_key_secret_name)
    values (${name}, ${name}, 'model', true, ${`${name}-key`}) returning id`;
  const id = provider?.id ?? "";
  await sql`select vault.create_secret('the organisation''s key', ${`${name}-key`})`;
  await sql`
    insert into public.model_prices (provider_id, model, input_micro_usd_per_mtok,
      cached_input_micro_usd_per_mtok, output_micro_usd_per_mtok, valid_from)
    values (${id}, 'model', 1000000, 1000000, 1000000, now() - interval '1 day')`;
  await sql`
    insert into public.model_policies (provider_id, spending_cap_micro_usd, cap_period)
    values (${id}, ${capMicroUsd}, 'day')`;
  return id;
}

/** Reserves 1,000 micro-USD; null if the cap is reached. */
async function reserve(
  sql: Sql | TransactionSql,
  providerId: string,
  userId: string,
): Promise<string | null> {
  try {
    const [row] = await sql<{ reservation_id: string }[]>`
      select reservation_id
      from private.resolve_provider_secret(${providerId}, ${userId}, 'model', 600, 400)`;
    return row?.reservation_id ?? null;
  } catch (error) {
    assert.equal(Reflect.get(error as object, "detail"), "SPENDING_CAP_REACHED");
    return null;
  }
}

async function book(
  sql: Sql | TransactionSql,
  { providerId, userId, reservation, cost }: {
    readonly providerId: string;
    readonly userId: string;
    readonly reservation: string;
    readonly cost: number;
  },
): Promise<void> {
  const usage = {
    provider_id: providerId,
    user_id: userId,
    model: "model",
    key_source: "organisation",
    input_tokens: cost,
    reservation_id: reservation,
  };
  await sql`select private.record_usage(${sql.json(usage)})`;
}
