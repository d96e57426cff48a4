import assert from "node:assert/strict";
import { openRaceTrack } from "./race_fixture.ts";

const USER_ID = "5c4edeed-0000-4000-8000-0000000000a1";

Deno.test("parallel messages of one user stay within the quota together, and no sum is lost", async () => {
  await using track = await openRaceTrack({ connections: 8 });
  const { sql, admin } = track;
  await admin`insert into auth.users (id, email) values (${USER_ID}, 'racer@example.test')`;
  await sql`
    insert into private.quotas (name, user_id, amount) values ('conversation_bytes', ${USER_ID}, 20000)`;
  const talks = await sql<{ id: string }[]>`
    insert into public.conversations (user_id, title)
    select ${USER_ID}, 'talk ' || n from generate_series(1, 8) as n returning id`;

  const outcomes = await Promise.all(
    talks.flatMap(({ id }) =>
      Array.from(
        { length: 8 },
        () =>
          sql`select private.append_message(${id}, ${USER_ID}, 'user', ${"x".repeat(800)}, null)`
            .then(() => "stored", (error: { detail?: string }) => error.detail),
      )
    ),
  );
  const [used] = await sql`
    select private.stored_use('conversation_bytes', ${USER_ID})::int as bytes,
      (select sum(200 + octet_length(content)) from public.messages)::int
        + (select sum(200 + octet_length(title)) from public.conversations)::int as written`;

  assert.equal(outcomes.filter((outcome) => outcome === "stored").length, 18);
  assert.deepEqual(new Set(outcomes), new Set(["stored", "QUOTA_EXCEEDED"]));
  assert.ok(used?.bytes <= 20_000, `${used?.bytes} bytes`);
  assert.equal(used?.bytes, used?.written);
});

Deno.test("debits that are added up while others arrive and jobs are deleted are counted once", async () => {
  await using track = await openRaceTrack({ connections: 8 });
  const { sql, admin } = track;
  await admin`insert into auth.users (id, email) values (${USER_ID}, 'racer@example.test')`;
  const debit = (bytes: number) =>
    sql`insert into private.stored_debits (user_id, name, byte_count) values (${USER_ID}, 'ledger_bytes', ${bytes})`;
  const add = () => sql`select private.sum_stored_debits(7)`;

  await Promise.all(Array.from({ length: 60 }, (_, n) => [debit(n + 1), add()]).flat());
  await sql`select private.sum_stored_debits(1000)`;

  const [used] = await sql`select private.stored_use('ledger_bytes', ${USER_ID})::int as bytes`;
  assert.equal(used?.bytes, 60 * 61 / 2);
});
