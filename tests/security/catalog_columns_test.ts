import assert from "node:assert/strict";
import { createSql } from "../../shared/platform/db/sql_client.ts";
import { CATALOG_COLUMNS } from "../../shared/servers/sql/catalog_columns.ts";
import { openToolDatabase, openToolFixture, userCaller } from "../gateway/tools/tool_fixture.ts";
import { callSupabase, registerSupabase } from "../servers/supabase/supabase_call.ts";

Deno.test("every column of a readable catalog is listed as shown or hidden", async () => {
  const database = await openToolDatabase();
  const sql = createSql(database.url, { maxConnections: 1, applicationName: "catalog-columns" });
  const rows = await sql<{ key: string; name: string }[]>`
    select attname as name, case nspname when 'pg_catalog' then relname else nspname || '.' || relname end as key
    from pg_attribute
    join pg_class as relation on relation.oid = attrelid
    join pg_namespace as schema on schema.oid = relnamespace
    where nspname in ('pg_catalog', 'information_schema') and attnum > 0`;
  await sql.end();
  await database.stop();

  const unlisted = rows.filter(({ key, name }) => {
    const listed = Object.hasOwn(CATALOG_COLUMNS, key) ? CATALOG_COLUMNS[key] : undefined;
    return listed !== undefined && !listed.shown.has(name) && !listed.hidden.has(name);
  });

  assert.deepEqual(unlisted.map(({ key, name }) => `${key}.${name}`), []);
  const found = new Set(rows.map(({ key }) => key));
  assert.deepEqual(Object.keys(CATALOG_COLUMNS).filter((key) => !found.has(key)), []);
});

/** What a project writes into definitions. */
const KEY = "c4n4ry-service-key";
const PROJECT = `
  create table public.orders (
    id int primary key,
    token text default '${KEY}' check (token <> '${KEY}x')
  );
  comment on column public.orders.token is 'The token of the order';
  grant select (id) on public.orders to authenticated;
  create function private.call_webhook() returns trigger language plpgsql as $$
    begin perform '${KEY}'; return new; end $$;
  create trigger webhook after insert on public.orders
    for each row execute function private.call_webhook('https://example.com', '${KEY}');
  create view public.keyed as select id from public.orders where token <> '${KEY}';
`;

/** What tools and models ask catalogs for. */
const QUESTIONS = [
  "select c.relname, a.attname, format_type(a.atttypid, a.atttypmod) as type, a.attnotnull " +
  "from pg_class c join pg_attribute a on a.attrelid = c.oid where c.relname = 'orders'",
  "select table_name, column_name, data_type from information_schema.columns " +
  "where table_schema = 'public' order by ordinal_position",
  "select tgname, proname from pg_trigger join pg_proc p on p.oid = tgfoid",
  "select * from information_schema.tables where table_name = 'orders'",
];

Deno.test("catalogs name what a project consists of, without what it wrote into definitions", async (t) => {
  await using fixture = await openToolFixture();
  await fixture.sql.unsafe(PROJECT);
  await registerSupabase(fixture);
  const user = userCaller(await fixture.createUser());

  for (const sql of QUESTIONS) {
    await t.step(sql, async () => {
      const call = { sql, dry_run: false };
      const { answer, text } = await callSupabase(fixture, user, "execute_sql", call);

      assert.ok((answer.rows as unknown[]).length > 0, text);
      assert.ok(!text.includes(KEY), text);
    });
  }

  await t.step("a refusal lists the columns that are readable", async () => {
    const call = { sql: "select * from pg_trigger", dry_run: false };
    const { answer, text } = await callSupabase(fixture, user, "execute_sql", call);

    assert.equal(answer.statement_class, "forbidden");
    assert.match(text, /Readable columns of pg_trigger: oid, tgrelid, .*tgname/);
    assert.doesNotMatch(text, /tgargs/);
  });
});
