import assert from "node:assert/strict";
import type { JsonObject } from "../../../shared/platform/values/json.ts";
import { openFixtureOnSharedDatabase } from "../../gateway/tools/shared_database.ts";
import { callOf, noAbort, nobody, userCaller } from "../../gateway/tools/tool_fixture.ts";
import { callSupabase, registerSupabase } from "./supabase_call.ts";

const SHOP = `
  create type public.mood as enum ('Calm', 'very angry');
  create table public.customers (id int primary key);
  create table public.secrets (id int primary key);
  create table public.orders (
    id bigint generated always as identity primary key,
    owner_id uuid not null default auth.uid(),
    customer_id int not null references public.customers,
    secret_id int references public.secrets,
    unit_price numeric(6, 2) not null,
    is_paid boolean not null default false,
    mood public.mood,
    ordered_on date,
    note varchar(10),
    constraint no_thirteen check (unit_price <> 13)
  );
  comment on column public.orders.customer_id is 'The buyer (synonyms: client, Kunde)';
  alter table public.orders enable row level security;
  alter table public.secrets enable row level security;
  create policy own on public.orders to authenticated
    using (owner_id = auth.uid()) with check (owner_id = auth.uid());
  grant select, insert on public.orders to authenticated;
  grant select on public.customers, public.secrets to authenticated;
  insert into public.customers values (1), (2);
  insert into public.secrets values (7);
`;

Deno.test("add_records maps, checks and adds records as the caller", async (t) => {
  await using fixture = await openFixtureOnSharedDatabase();
  const { sql } = fixture;
  await sql.unsafe(SHOP);
  await registerSupabase(fixture);
  const user = userCaller(await fixture.createUser());
  await sql`select public.grant_scopes(${user.userId}, array['sql:write'])`;
  const add = (args: JsonObject, caller = user) =>
    callSupabase(fixture, caller, "add_records", { table: "orders", ...args });
  const dryRun = async (args: JsonObject) => {
    const { answer } = await add(args);
    assert.ok(answer.next_call, JSON.stringify(answer));
    return answer.next_call as JsonObject;
  };
  const count = async () => {
    const [row] = await sql`select count(*)::int as count from public.orders`;
    return Number(row?.count);
  };

  await t.step(
    "a dry run maps spellings and synonyms, converts values and adds nothing",
    async () => {
      const { answer } = await add({
        data: {
          "Unit Price": "12.5",
          Kunde: "1",
          isPaid: "yes",
          MOOD: "VERY_ANGRY",
          ordered_on: "2026-02-28",
        },
      });

      assert.deepEqual(answer.mapping, {
        "Unit Price": "unit_price",
        Kunde: "customer_id",
        isPaid: "is_paid",
        MOOD: "mood",
        ordered_on: "ordered_on",
      });
      assert.deepEqual(answer.preview, [{
        unit_price: "12.5",
        customer_id: "1",
        is_paid: true,
        mood: "very angry",
        ordered_on: "2026-02-28",
      }]);
      assert.equal(answer.statement_class, "write");
      assert.equal(await count(), 0);
    },
  );

  await t.step("every problem in every record is reported in one answer", async () => {
    const { answer, isError, errorCode, text } = await add({
      bulk_insert: true,
      data: [
        { customer_id: 1, unit_price: 1, colour: "red" },
        { customer_id: "x", unit_price: 12345, mood: "calmer", ordered_on: "2026-02-30" },
        { customer_id: 99, unit_price: 1, is_paid: null, note: "longer than ten" },
        { id: 5, customer_id: 1 },
      ],
    });
    const problems = (answer.problems as JsonObject[]).map(({ record, column, message }) =>
      `${record} ${column}: ${message}`
    );

    assert.equal(isError, true);
    assert.equal(errorCode, "TOOL_ARGUMENTS_INVALID");
    assert.deepEqual(problems, [
      'null null: "colour" is not a column.',
      "null id: The database numbers this column: omit it.",
      '2 customer_id: "x" is not a whole number.',
      "2 unit_price: 12345 is not a number that fits numeric(6,2).",
      '2 mood: "calmer" is not one of "Calm".',
      '2 ordered_on: "2026-02-30" is not a date such as 2026-01-31.',
      "3 is_paid: A value is required.",
      '3 note: "longer than ten" is not a text of at most 10 characters.',
      "4 unit_price: A value is required.",
      "3 customer_id: public.customers has no such row.",
    ]);
    assert.match(text, /record 2: mood: "calmer"/);
  });

  await t.step("next_call adds the records once, as the caller", async () => {
    const next = await dryRun({
      bulk_insert: true,
      data: [{ client: 1, unit_price: 1 }, { client: 2, unit_price: "2", note: "hi" }],
    });
    const first = await add(next);
    const replayed = await add(next);
    const rows = await sql`
      select owner_id, customer_id, unit_price, is_paid, note from public.orders order by customer_id`;

    assert.equal(first.answer.affected_rows, 2);
    assert.equal(replayed.errorCode, "CONFIRMATION_INVALID");
    assert.deepEqual(rows.map((row) => ({ ...row })), [
      { owner_id: user.userId, customer_id: 1, unit_price: "1.00", is_paid: false, note: null },
      { owner_id: user.userId, customer_id: 2, unit_price: "2.00", is_paid: false, note: "hi" },
    ]);
  });

  await t.step("one record that the database refuses blocks all of them", async () => {
    const before = await count();
    const next = await dryRun({
      bulk_insert: true,
      data: [{ customer_id: 1, unit_price: 5 }, { customer_id: 1, unit_price: 13, note: "x" }],
    });
    const refused = await add(next);
    const again = await add(next);

    assert.equal(refused.errorCode, "SQL_FAILED");
    assert.match(refused.text, /no_thirteen/);
    // A write that rolled back has not used its token.
    assert.equal(again.errorCode, "SQL_FAILED");
    assert.equal(await count(), before);
  });

  await t.step("row level security applies", async () => {
    const before = await count();
    const next = await dryRun({
      data: { customer_id: 1, unit_price: 5, owner_id: crypto.randomUUID() },
    });
    const { errorCode, text } = await add(next);

    assert.equal(errorCode, "SQL_FAILED", text);
    assert.match(text, /row-level security/);
    assert.equal(await count(), before);
  });

  await t.step("a reference that row level security may hide is a warning", async () => {
    const { answer } = await add({ data: { customer_id: 1, unit_price: 5, secret_id: 7 } });

    assert.match(String((answer.warnings as string[])[0]), /You see no row of public.secrets/);
    assert.equal((await add(answer.next_call as JsonObject)).answer.affected_rows, 1);
  });

  await t.step("a token is valid only for these records, this user and this table", async () => {
    const before = await count();
    const next = await dryRun({ data: { customer_id: 1, unit_price: 5 } });
    const stranger = userCaller(await fixture.createUser());
    await sql`select public.grant_scopes(${stranger.userId}, array['sql:write'])`;

    for (
      const [args, caller] of [
        [{ ...next, data: { customer_id: 2, unit_price: 5 } }, user],
        [next, stranger],
        [{ ...next, confirmation_token: "another" }, user],
      ] as const
    ) {
      assert.equal((await add(args, caller)).errorCode, "CONFIRMATION_INVALID");
    }
    const lacking = await add({ ...next, confirmation_token: null });
    assert.equal(lacking.errorCode, "CONFIRMATION_REQUIRED");
    assert.equal(await count(), before);
  });

  await t.step("of nine concurrent calls with one token, one writes", async () => {
    const before = await count();
    const next = await dryRun({ data: { customer_id: 1, unit_price: 9 } });
    const outcomes = await Promise.all(Array.from({ length: 9 }, () => add(next)));

    assert.equal(outcomes.filter(({ isError }) => !isError).length, 1);
    assert.equal(await count(), before + 1);
  });

  await t.step("the same idempotency key gets the same answer and adds nothing", async () => {
    const next = await dryRun({
      data: { customer_id: 1, unit_price: 8 },
      idempotency_key: "order-8",
    });
    const first = await add(next);
    const before = await count();
    const again = await add(next);

    assert.deepEqual(again.answer, first.answer);
    assert.equal(await count(), before);
  });

  await t.step("an idempotency key of other records is explained", async () => {
    const next = await dryRun({
      data: { customer_id: 1, unit_price: 8.5 },
      idempotency_key: "order-8",
    });

    const { errorCode, text } = await add(next);

    assert.equal(errorCode, "CONFIRMATION_INVALID");
    assert.match(text, /its idempotency_key belongs to an earlier write/);
  });

  await t.step("a client with elicitation confirms in a form", async () => {
    const before = await count();
    const record = { table: "orders", data: { customer_id: 1, unit_price: 3 }, dry_run: false };
    const asked = await fixture.gateway.call({
      ...callOf({ server: "supabase", toolName: "add_records" }, user, record),
      input: { capabilities: { elicitation: {} } },
    }, noAbort());

    assert.ok(asked.kind === "input_required");
    assert.match(JSON.stringify(asked.inputRequests), /Add 1 records to public.orders/);
    assert.equal(await count(), before);
  });

  await t.step(
    "without sql:write, without a user or without the table nothing is added",
    async () => {
      const reader = userCaller(await fixture.createUser());
      const record = { data: { customer_id: 1, unit_price: 1 } };

      assert.equal((await add(record, reader)).errorCode, "INSUFFICIENT_SCOPE");
      assert.equal((await add(record, nobody())).errorCode, "CALLER_REQUIRED");
      const unknown = await add({ ...record, table: "order" });
      assert.equal(unknown.errorCode, "TOOL_ARGUMENTS_INVALID");
      assert.match(unknown.text, /Name one of: orders/);
      assert.equal((await add({ data: [{}] })).errorCode, "TOOL_ARGUMENTS_INVALID");
    },
  );

  await t.step("names cannot inject SQL into the statement", async () => {
    await sql.unsafe(`
      create table public."od""d; drop table orders" ("a""b" int, "select" text);
      grant select, insert on public."od""d; drop table orders" to authenticated;`);
    const next = await dryRun({
      table: 'od"d; drop table orders',
      data: { 'a"b': 1, select: "'); drop table orders; --" },
    });

    assert.equal((await add(next)).answer.affected_rows, 1);
    assert.ok(await count() > 0);
  });
});
