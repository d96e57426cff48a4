import assert from "node:assert/strict";
import type { JsonObject } from "../../shared/platform/values/json.ts";
import { callSupabase, registerSupabase } from "../servers/supabase/supabase_call.ts";
import { openToolFixture, userCaller } from "../gateway/tools/tool_fixture.ts";

const SECRET = "c4n4ry of another user";

/** Reads the letters of all users, whatever its argument is. */
const LEAKING = `language sql stable security definer as
  'select string_agg(body, '','') from public.letters'`;

/** Letters that only their owners see, and functions of every signature that a name can reach. */
const PROJECT = `
  create table public.letters (
    id int generated always as identity primary key,
    owner_id uuid not null default auth.uid(),
    body text not null
  );
  alter table public.letters enable row level security;
  create policy own on public.letters to authenticated using (owner_id = auth.uid());
  create type public.place as (city text, street text);
  create type public.mood as enum ('calm', 'angry');
  create table public.people (id int primary key, name text, home public.place);
  create table public.feelings (id int primary key, mood public.mood);
  create table public.pets (id int primary key);
  grant select, insert on public.letters, public.people, public.feelings, public.pets
    to authenticated;
  insert into public.people values (1, 'Ann', ('Rome', 'Corso'));
  insert into public.feelings values (1, 'calm');
  insert into public.letters (owner_id, body) values (gen_random_uuid(), '${SECRET}');

  create function public.of_row(people) returns text ${LEAKING};
  create function public.with_default(people, text default 'x') returns text ${LEAKING};
  create function public.with_rest(variadic people[]) returns text ${LEAKING};
  create function public.of_any(anyelement) returns text ${LEAKING};
  create function public.of_compatible(anycompatible) returns text ${LEAKING};
  create function public.of_record(record) returns text language plpgsql security definer as $$
    begin return (select string_agg(body, ',') from public.letters); end $$;
  create function public.of_text(text) returns text ${LEAKING};
  create function public.of_varchar(varchar) returns text ${LEAKING};
  create function public.of_place(place) returns text ${LEAKING};
  create function public.json_value(text, text) returns text ${LEAKING};
  create function public.json_value(jsonb, text) returns text ${LEAKING};
  create function public.json_array(int, int) returns text ${LEAKING};
  create function public.any_value(varchar) returns text ${LEAKING};
  create function public.lower(varchar) returns text ${LEAKING};
  create function public.mood_text(mood) returns varchar ${LEAKING};
  create cast (public.mood as varchar) with function public.mood_text(mood) as implicit;
  create function public.pets_text(pets) returns varchar ${LEAKING};
  create cast (public.pets as varchar) with function public.pets_text(pets) as implicit;
  create function public.same_text(text, text) returns text ${LEAKING};
  create operator public.=== (leftarg = text, rightarg = text, function = public.same_text);
  create function public.is_plain(text) returns bool language plpgsql security definer as $$
    begin raise exception '%', (select string_agg(body, ',') from public.letters); end $$;
  create domain public.plain as text check (public.is_plain(value));
  create table public.notes (id int primary key, body public.plain);
  create domain public.short as text check (length(value) < 10);
  create function public.full_name(people) returns text language sql stable as 'select $1.name';
  grant select on public.notes to authenticated;
  update private.sql_policy set read_functions = '{public.full_name}';
`;

/** Statements that could run something that is not listed, and its name. */
const ATTACKS: readonly (readonly [string, string])[] = [
  ["select p.of_row from people p", "public.of_row"],
  ["select people.of_row from people", "public.of_row"],
  ["select public.people.of_row from public.people", "public.of_row"],
  ["select (p).of_row from people p", "public.of_row"],
  ["select p.with_default from people p", "public.with_default"],
  ["select (p).with_default from people p", "public.with_default"],
  ["select p.with_rest from people p", "public.with_rest"],
  ["select p.of_any from people p", "public.of_any"],
  ["select p.of_compatible from people p", "public.of_compatible"],
  ["select p.of_record from people p", "public.of_record"],
  ["select x.of_record from (select 1 as id) x", "public.of_record"],
  ["select p.of_varchar from pets p", "cast from public.pets"],
  ["select (1).of_any", "public.of_any"],
  ["select (1).of_compatible", "public.of_compatible"],
  ["select ('x'::text).of_text", "public.of_text"],
  ["select (name).of_text from people", "public.of_text"],
  ["select (p.home).of_place from people p", "public.of_place"],
  ["select ((p).home).of_place from people p", "public.of_place"],
  ["select (('a','b')::place).of_place", "public.of_place"],
  ["select 1 from people p order by p.of_row", "public.of_row"],
  ["select 1 from people p where p.of_row is not null", "public.of_row"],
  ["with x as (select p.with_default as y from people p) select y from x", "public.with_default"],
  ["explain select p.of_row from people p", "public.of_row"],
  ["select (0.1::float8).pg_sleep", "pg_catalog.pg_sleep"],
  ["select ('server_version'::text).current_setting", "pg_catalog.current_setting"],
  ["select ('people_id_seq'::regclass).nextval", "pg_catalog.nextval"],
  ["select (1::bigint).pg_advisory_lock", "pg_catalog.pg_advisory_lock"],
  ["select ('/etc/passwd'::text).pg_read_file", "pg_catalog.pg_read_file"],
  ["select ('pg_proc'::regclass::oid).pg_get_viewdef", "pg_catalog.pg_get_viewdef"],
  ["select ('people'::regclass).pg_relation_size", "pg_catalog.pg_relation_size"],
  ["select json_value('{\"a\": 1}', '$.a')", "public.json_value"],
  ["select json_array(1, 2)", "public.json_array"],
  ["select any_value(name::varchar) from people", "public.any_value"],
  ["select lower(name::varchar) from people", "public.lower"],
  ["select mood::varchar from feelings", "cast from public.mood"],
  ["select upper(mood) from feelings", "cast from public.mood"],
  ["select mood || 'x' from feelings", "cast from public.mood"],
  ["select upper('calm'::mood)", "cast from public.mood"],
  ["select (array_agg(mood))[1]::varchar from feelings", "cast from public.mood"],
  ["select upper(f.mood) from (select * from feelings) f", "cast from public.mood"],
  ["select p::varchar from pets p", "cast from public.pets"],
  ["select (p).upper from pets p", "cast from public.pets"],
  ["select name === name from people", "operator public.==="],
  ["select 'x'::plain", "domain public.plain"],
  ["select cast('x' as public.plain)", "domain public.plain"],
  ["select '{x}'::plain[]", "domain public.plain"],
  ['select * from jsonb_populate_record(null::notes, \'{"body": "x"}\')', "domain public.plain"],
  ['select jsonb_populate_record(n, \'{"body": "x"}\') from notes n', "domain public.plain"],
  ['select * from jsonb_to_record(\'{"a": "x"}\') as x(a plain)', "domain public.plain"],
];

/** The same ways to columns, built-in functions and functions of the policy. */
const USES: readonly (readonly [string, unknown])[] = [
  ["select p.id from people as p where p.id = 1", 1],
  ["select public.people.id from public.people", 1],
  ["select (row(1, 2)).f2", 2],
  ["select (jsonb_each('{\"key\": 5}')).value", 5],
  ["select x.total from (select 5 as total) x", 5],
  ["select ('abc'::text).upper", "ABC"],
  ["select (array[1, 2]).cardinality", 2],
  ["select 'x'::short", "x"],
  ["select count(*) from notes where body is not null", 0],
  ["select pg_catalog.lower('ABC'::varchar)", "abc"],
  ["select 12::varchar || 'x'", "12x"],
];

Deno.test("no name in a statement runs a function that the policy does not list", async (t) => {
  await using fixture = await openToolFixture();
  await fixture.sql.unsafe(PROJECT);
  await registerSupabase(fixture);
  const userId = await fixture.createUser();
  await fixture.sql`select public.grant_scopes(${userId}, array['sql:write'])`;
  await fixture.sql`
    insert into public.mcp_policies (mcp_name, user_id, calls_per_minute, burst_calls)
    values ('supabase', ${userId}, 1000000, 10000)`;
  const user = userCaller(userId);
  const call = (args: JsonObject) => callSupabase(fixture, user, "execute_sql", args);

  await t.step("attacks are refused before they run or are planned", async () => {
    const wrong: string[] = [];
    for (const [sql, name] of ATTACKS) {
      for (const isDryRun of [true, false]) {
        const { answer, text } = await call({ sql, dry_run: isDryRun });
        const { code, message } = (answer.error ?? {}) as JsonObject;
        const isRefused = code === "SQL_FORBIDDEN" && String(message).includes(name);
        if (!isRefused || text.includes(SECRET)) wrong.push(`${sql}: ${text}`);
      }
    }

    assert.deepEqual(wrong, []);
  });

  await t.step("the same names of columns and built-in functions work", async () => {
    for (const [sql, value] of USES) {
      const { answer, text } = await call({ sql, dry_run: false });
      assert.deepEqual(answer.rows, [[value]], `${sql}: ${text}`);
    }
  });

  await t.step("a function of the policy is callable, also as an attribute or a cast", async () => {
    const attribute = { sql: "select p.full_name from people p", dry_run: false };
    assert.deepEqual((await call(attribute)).answer.rows, [["Ann"]]);

    await fixture.sql`
      update private.sql_policy
      set read_functions = '{public.mood_text, public.pets_text}'`;
    const cast = { sql: "select mood::varchar from feelings", dry_run: false };
    assert.match(String((await call(cast)).answer.rows), /c4n4ry/);
  });
});
