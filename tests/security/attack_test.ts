import assert from "node:assert/strict";
import type { JsonObject } from "../../shared/platform/values/json.ts";
import type { ToolCaller } from "../../shared/gateway/tool_contracts/tool_caller.ts";
import { openToolFixture, type ToolFixture, userCaller } from "../gateway/tools/tool_fixture.ts";
import { callSupabase, registerSupabase } from "../servers/supabase/supabase_call.ts";

const SECRET = "c4n4ry";

/** Rows of others, and what a careless project may have left in reach of a statement. */
const PROJECT = `
  create table public.cities (id int primary key, name text, body text);
  insert into public.cities select n, 'city ' || n, repeat('a', 10) from generate_series(1, 100) as n;
  create sequence public.tickets;
  select nextval('public.tickets') from generate_series(1, 41);
  create table public.secrets (id int primary key, owner_id uuid not null default auth.uid(), pin text);
  alter table public.secrets enable row level security;
  create policy own on public.secrets to authenticated using (owner_id = auth.uid());
  insert into public.secrets (id, owner_id, pin) values (1, gen_random_uuid(), '${SECRET}');
  create table public.codes (id int);
  create table public.boxes (id int primary key, label text);
  insert into public.boxes values (1, 'box');
  insert into public.codes values (1);
  grant select, insert, update, delete on public.secrets, public.boxes to authenticated;
  grant select on public.cities, public.codes to authenticated;
  grant usage, select on sequence public.tickets to authenticated;

  create function public.pin_of(id int) returns text language sql security definer
    as 'select pin from public.secrets where secrets.id = pin_of.id';
  create function public.label(text) returns text language sql security definer
    as 'select string_agg(pin, '','') from public.secrets';
  create function public.is_pin(value text) returns boolean language sql security definer
    as 'select exists (select from public.secrets where pin = value)';
  create domain public.code as text check (not public.is_pin(value));
  alter table public.codes add column code public.code default 'a';
  create table public.code_lists (id int primary key, list public.code[] default '{a}', codes public.codes[]);
  insert into public.code_lists values (1);
  create type public.code_range as range (subtype = public.code);
  create table public.code_ranges (id int primary key, range public.code_range default '[a,b]');
  insert into public.code_ranges values (1);
  grant select on public.code_lists, public.code_ranges to authenticated;
  create domain public.box as public.boxes;
  create domain public.sealed as public.box;
  create function public.in_sealed(public.sealed) returns text language sql security definer
    as 'select string_agg(pin, '','') from public.secrets';
  create function public.city_text(public.cities) returns text language sql security definer
    as 'select string_agg(pin, '','') from public.secrets';
  create table public.shapes (id int primary key, route path, area polygon, words text, marks text);
  insert into public.shapes
  select copy,
    (select '[' || string_agg(format('(%s,%s)', n, n + copy * 0.5), ',') || ']' from generate_series(1, 30000) as n)::path,
    (select '(' || string_agg(format('(%s,%s)', n, n + copy * 0.5), ',') || ')' from generate_series(1, 30000) as n)::polygon,
    repeat('a.', 300000), repeat(U&'\\0301', 50000) || repeat(U&'\\0316', 50000)
  from generate_series(1, 2) as copy;
  grant select on public.shapes to authenticated;
  create function private.key_in_body() returns int language sql as 'select 1 /* ${SECRET} */';
`;

const times = (expression: string, count: number) =>
  Array.from({ length: count }, () => expression).join(",");
const NINES = "9".repeat(4_900);

/** A query in which each level contains the one before it several times. */
const nested = (levels: number, expression: string, innermost = "select id as x from cities") =>
  Array.from({ length: levels }).reduce<string>(
    (query, _, level) => `select ${expression} as x from (${query}) as s${level}`,
    innermost,
  );
const chained = (levels: number, kind: string, select: (before: string) => string) =>
  `with c0 as ${kind} (select id as x from cities)${
    Array.from({ length: levels }, (_, level) =>
      `, c${level + 1} as ${kind} (${select(`c${level}`)})`).join("")
  } select x from c${levels}`;
const lateral = (levels: number, sourceOf: (before: string, level: number) => string) =>
  `select 1 from (select id as x from cities) as l0${
    Array.from({ length: levels }, (_, level) => `, lateral ${sourceOf(`l${level}.x`, level + 1)}`)
      .join("")
  }`;
/** Marks of two kinds, which normalization sorts one by one. */
const MARKS = "repeat(U&'\\0301', 20000) || repeat(U&'\\0316', 20000)";

interface Attack {
  readonly sql: string;
  readonly params?: readonly string[];
}

/** Statements that must be refused before they run, by what they try. */
const REFUSED: Readonly<Record<string, readonly (string | Attack)[]>> = {
  "a function's value is not a row, whose attributes call functions": [
    "select s.pin_of from generate_series(1, 3) s",
    "select generate_series.pin_of from generate_series(1, 3)",
    "select s.pin_of from generate_series(1, 3) as s(n)",
    "select s.label from unnest(array['x']) s",
    "select 1 from generate_series(1, 3) s where s.pin_of = 'c4n4ry'",
    "select s.pin_of from lateral int4('1') s",
    "select (select s.pin_of from generate_series(1, 1) s) from cities s limit 1",
    "select s.pin_of, t.n from generate_series(1, 1) s(n), generate_series(1, 1) t(n)",
    "select x.label from coalesce('x'::text) x",
    "select coalesce.label from coalesce('x'::text)",
    "select s.label from rows from (lower('x')) s",
    "select s.pg_sleep from generate_series(1, 1) s",
    "select s.pg_advisory_lock from generate_series(1, 1) s",
    "select s.current_setting from unnest(array['request.jwt.claims']) s",
    "select s.pg_get_functiondef from oid('private.key_in_body'::regproc) s",
    "select s.pg_get_viewdef from oid('pg_views'::regclass) s",
    "select s.pg_relation_size from unnest(array['secrets'::regclass]) s",
    "select s.pg_stat_get_live_tuples from oid('secrets'::regclass) s",
    "select s.pg_sequence_last_value from unnest(array['tickets'::regclass]) s",
    "select s.pg_read_file from unnest(array['/etc/passwd']) s",
    "update boxes set label = s.label from unnest(array['x']) s",
    "insert into boxes select 2, s.label from unnest(array['x']) s",
    "explain select s.pin_of from generate_series(1, 3) s",
    "select b.in_sealed from boxes b",
  ],
  "the name of a query hides no relation from the checks": [
    "with a as (select last_value from tickets), tickets as (select 1 as last_value) select * from a",
    "select * from (with tickets as (select 1) select 1) as x, tickets",
    "select (with tickets as (select 1) select 1), last_value from tickets",
    "with recursive a as (with tickets as (select 1 as n) select n from tickets) select * from a, tickets",
    "select last_value from tickets",
    "select (t).last_value from tickets t",
  ],
  "no literal becomes a value of a domain with a function of the project": [
    `select lag(code, 1, '${SECRET}') over () from codes`,
    `select array_append(array_agg(code), '${SECRET}') from codes`,
    `select array_agg(code) = '{${SECRET}}' from codes`,
    `select '${SECRET}'::code`,
    `select array[code] = '{${SECRET}}' from codes`,
    `select array(select code from codes) = '{${SECRET}}'`,
    `select array[code] || '{${SECRET}}' from codes`,
    `select array[c] = '{"(1,${SECRET})"}' from codes c`,
    `select 1 from codes c where array[c, c] && '{"(1,${SECRET})"}'`,
    `select case array[code] when '{${SECRET}}' then 1 end from codes`,
    `select list = '{${SECRET}}' from code_lists`,
    `select nullif(list, '{${SECRET}}') from code_lists`,
    `select list[1:1] = '{${SECRET}}' from code_lists`,
    `select coalesce(list, '{${SECRET}}') from code_lists`,
    `select list from code_lists union select '{${SECRET}}'`,
    `select codes = '{"(1,${SECRET})"}' from code_lists`,
    `select range @> '${SECRET}' from code_ranges`,
    `select range = '[${SECRET},${SECRET}]' from code_ranges`,
    `select pg_input_is_valid('${SECRET}', 'public.code')`,
    `select jsonb_populate_record(c, '{"code": "${SECRET}"}') from codes c`,
  ],
  "no calculation takes seconds, whatever it is called": [
    `select ${times("numeric_mul(x, x)", 100)} from (select ${NINES}${NINES} as x) s`,
    `select ${times("numeric_mul(2.5, 2.5)", 300)}`,
    `select ${times("numeric_power(9.9, 15000)", 300)}`,
    "select numeric_power(9.9, 15000)",
    "select pg_catalog.numeric_exp(5000.5)",
    `select ${times("(x).ln", 300)} from (select 2.5 as x) s`,
  ],
  "no query grows while it is planned": [
    nested(24, "x + x"),
    nested(16, "case when x = 1 then x else x end"),
    nested(16, "(x between x and x)::int"),
    nested(16, "coalesce(x, x, 1)"),
    nested(24, "greatest(x, x)"),
    nested(24, "nullif(x, x)"),
    nested(24, "(select x + x)"),
    nested(24, "(x = x or x is null)::int"),
    nested(24, "(x in (x, 1))::int"),
    nested(24, "s.x + s.x", "select 1 as x").replaceAll(/s\.x/g, "x"),
    nested(24, "x + x", "select * from (values (1)) as v(x)"),
    chained(24, "", (before) => `select x + x as x from ${before}`),
    chained(24, "not materialized", (before) => `select a.x from ${before} as a, ${before} as b`),
    lateral(24, (before, level) => `(select ${before} + ${before} as x) as l${level}`),
    lateral(24, (before, level) => `(values (${before} + ${before})) as l${level}(x)`),
    `select j.y + j.y from ((${nested(23, "x + x")}) as q cross join (select 1) as r) as j(y)`,
    `insert into boxes select x, '' from (${nested(24, "x + x")}) as q`,
    `explain ${nested(24, "x + x")}`,
  ],
  "texts are not normalized in seconds": [
    `select length(normalize(${MARKS}, NFC))`,
    `select (${MARKS}) is nfkc normalized`,
    "select length(normalize(marks, NFD)) from shapes",
    "select marks is normalized from shapes",
    "select pg_catalog.normalize(marks, 'NFC') from shapes",
  ],
  "no function tells about transactions, bodies or closed tables": [
    "select age('3'::xid)",
    "select mxid_age('3')",
    "select xid('3'::xid8)",
    "select ('3'::xid).age",
    "select age(x.x) from (select '{3}'::xid[] as x) as x",
    "select fmgr_sql_validator('private.key_in_body'::regproc)",
    "select fmgr_internal_validator(1)",
    "select satisfies_hash_partition('private.workers'::regclass, 2, 0, 1)",
    "select makeaclitem(1, 1, 'SELECT', true)",
    "select xmlserialize(document xmlelement(name a) as text)",
  ],
  "catalogs, settings and places show nothing of others": [
    "select p.prosrc from pg_proc p",
    'select U&"pros\\0072c" from pg_proc',
    "select * from pg_proc union all select * from pg_proc",
    "select to_json(p) from pg_proc as p",
    "select x from (table pg_trigger) x",
    "select description from pg_description",
    "select reltuples from pg_class",
    "select current_setting(setting_name => 'request.jwt.claims')",
    "show all",
    "select s.ctid from secrets s",
    "select (s).xmin from secrets s",
    "select id from secrets tablesample bernoulli (50)",
    "explain analyze select * from secrets where id = 1",
    "explain (analyze off, analyze) select * from secrets",
    "select set_config('request.jwt.claims', '{}', true)",
    "select 1; select 2",
    "do $$ begin end $$",
    "prepare p as select 1",
    "copy secrets to stdout",
    "declare c cursor with hold for select 1",
  ],
};

/** Calls with operands that only the server knows, which check their lengths. */
const GUARDED: readonly Attack[] = [
  { sql: `select ${times("y * y", 100)} from (select '1e65000'::numeric - 1 as y) s` },
  {
    sql: `select ${
      times("y * y", 100)
    } from (select ('1e6500' || id % 10)::numeric - 1 as y from cities) s`,
  },
  { sql: `select ${times("$1::numeric * $1::numeric", 100)}`, params: ["9".repeat(60_000)] },
  { sql: "select numeric_mul($1, $1)", params: ["9".repeat(60_000)] },
  { sql: "select strpos($1, $2)", params: ["a".repeat(500_000), `b${"a".repeat(100_000)}`] },
  { sql: "select strpos(repeat(body, 200000), 'b' || repeat(body, 2000)) from cities" },
  { sql: "select a.route <-> b.route from shapes a, shapes b where a.id < b.id" },
  { sql: "select a.route ?# b.route from shapes a, shapes b where a.id < b.id" },
  { sql: "select a.area && b.area, a.area <-> b.area from shapes a, shapes b where a.id < b.id" },
  { sql: "select a.area ~= b.area from shapes a, shapes b where a.id < b.id" },
  { sql: "select 1 from shapes where route operator(pg_catalog.<->) route = 0" },
  { sql: "select length(to_tsvector('simple', words)) from shapes" },
  { sql: "select 1 from shapes where to_tsvector(words) @@ 'a'::tsquery" },
  { sql: "select ts_headline(words, 'a'::tsquery) from shapes" },
  { sql: "select plainto_tsquery(words) from shapes" },
  { sql: "select to_tsvector($1)", params: ["a.".repeat(300_000)] },
  { sql: "select \"normalize\"(marks, 'NFC') from shapes" },
  { sql: "select is_normalized(marks, 'NFC') from shapes" },
  {
    sql: "select jsonb_pretty($1::text::jsonb)",
    params: [`${"[".repeat(4_000)}${times("1", 19_000)}${"]".repeat(4_000)}`],
  },
  { sql: "select format(replace(left(words, 60000), 'a.', '%1$s'), words) from shapes" },
  { sql: `select format('${"%1$s".repeat(60)}', words) from shapes` },
  { sql: "select concat_ws(words, variadic string_to_array(words, '.')) from shapes" },
];

/** What people write that looks the same, with the first value of the answer. */
const TWINS: readonly (readonly [statement: string | Attack, value: unknown])[] = [
  ["select s.n from generate_series(1, 3) as s(n)", 1],
  ['select s.path from jsonb_to_recordset(\'[{"path": "/"}]\') as s(path text)', "/"],
  ["select s.label from unnest(array['x']) as s(label)", "x"],
  ["select s.value from jsonb_array_elements_text('[\"x\"]') as s", "x"],
  ["select e.key from jsonb_each('{\"a\": 1}') e", "a"],
  ["select b.label from boxes b, generate_series(1, 1) s", "box"],
  ["select s from generate_series(5, 5) s", 5],
  ["select c.name from cities c where c.id = 1", "city 1"],
  ["with big as (select id from cities where id > 99) select id from big", 100],
  ["with tickets_sold as (select 7 as last_value) select last_value from tickets_sold", 7],
  ["select code from codes where code = 'a'", "a"],
  ["select coalesce(code, 'none') from codes", "a"],
  ["select lag(id, 1, 0) over (order by id) from boxes", 0],
  ["select max(code) from codes", "a"],
  ["select code from codes where code in ('a', 'b')", "a"],
  ["select array[id] from codes", "{1}"],
  ["select name from cities where id = any(array[1, 2]) and name like 'c%'", "city 1"],
  ["select list[1] from code_lists where id = 1", "a"],
  ["select lower(range) from code_ranges", "a"],
  ["select 12.5 * 3", 37.5],
  ["select '1e3'::numeric * 2", 2000],
  ["select round((5 + 3)::numeric / 2, 1)", "4.0"],
  ["select (4.0).sqrt", "2.000000000000000"],
  [{ sql: "select $1::numeric * 2", params: ["19.99"] }, 39.98],
  [{ sql: "select length($1)", params: ["x".repeat(60_000)] }, 60_000],
  ["select power(2, 10)", 1024],
  ["select relname from pg_class where relname = 'secrets'", "secrets"],
  ["show server_encoding", "UTF8"],
  [nested(8, "x + x"), 256],
  [nested(100, "x"), 1],
  [chained(24, "materialized", (before) => `select x + 1 as x from ${before}`), 25],
  [chained(12, "", (before) => `select a.x from ${before} as a join ${before} as b using (x)`), 1],
  [chained(6, "", (before) => `select case when x > 0 then x + 1 end as x from ${before}`), 7],
  [
    "with recursive t(n) as (values (1) union all select n + 1 from t where n < 9) select max(n) from t",
    9,
  ],
  [
    `select ${
      times("x", 40)
    } from (select case when id > 0 then id * 2 else 0 end as x from cities) s`,
    2,
  ],
  ["select normalize('e' || U&'\\0301', NFC) = 'é'", true],
  ["select 'é' is nfc normalized", true],
  ["select \"normalize\"(name, 'NFC') from cities", "city 1"],
  ["select point(2, 2.1) <@ area from shapes", false],
  [
    "select id from cities where to_tsvector('simple', name) @@ to_tsquery('simple', 'city & 7')",
    7,
  ],
  [
    "select ts_headline('simple', name, plainto_tsquery('simple', 'city')) from cities",
    "<b>city</b> 1",
  ],
  ["select jsonb_pretty('[1]'::jsonb)", "[\n    1\n]"],
  ["select format('%s has the id %s', name, id) from cities", "city 1 has the id 1"],
  ["select concat_ws(', ', name, id) from cities", "city 1, 1"],
  ["select age(timestamp '2026-01-02', timestamp '2026-01-01')::text", "1 day"],
  ["select xmlserialize(content xmlelement(name a) as text)", "<a/>"],
  ["select count(*) from secrets", 0],
];

/** Definitions whose failure could quote a row of anybody. */
const CONVERSIONS = [
  ...[
    "regclass",
    "regtype",
    "regrole",
    "regproc",
    "regnamespace",
    "regconfig",
    "regdictionary",
    "regcollation",
    "regoper",
    "interval",
    "jsonpath",
    "int",
  ].map((type) => `alter table secrets add constraint fits check (pin::${type} is not null)`),
  "alter table secrets add constraint fits check (('a.b.' || pin)::regclass is not null)",
  "alter table secrets add constraint fits check (('a.b.' || pin)::regproc is not null)",
  "alter table secrets add constraint fits check (('a.b.c.' || pin)::regtype is not null)",
  "alter table secrets add constraint fits check (date_part(pin, now()) > 0)",
  "create index on secrets (to_tsquery('english', pin || ' ('))",
  "create index on secrets (cast(repeat(pin, 500) as tsquery))",
  "alter table secrets alter column pin type tsquery using (pin || ' (')::tsquery",
  "alter table secrets add column query tsquery generated always as ((pin || ' (')::tsquery) stored",
];

/** Errors of definitions that help whoever wrote them. */
const EXPLAINED: readonly (readonly [statement: string, message: RegExp])[] = [
  ["alter table secrets drop constraint nothing", /"nothing" of relation "secrets" does not exist/],
  ["alter table secrets drop column nothing", /column "nothing" of relation "secrets"/],
  ["create index on secrets (nothing)", /column "nothing" does not exist/],
  ["alter table secrets alter column owner_id type text", /used in a policy definition/],
  ["alter table secrets alter column pin type int", /cannot be cast automatically/],
  ["create index on secrets ((pin::regclass))", /must be marked IMMUTABLE/],
];

/** Definitions that are not offered, because they reach beyond what operators define. */
const NOT_OFFERED = [
  "create view seen with (security_invoker = true) as select s.pin_of from generate_series(1, 3) s",
  "create view sold with (security_invoker = true) as with a as (select last_value from tickets), " +
  "tickets as (select 1) select * from a",
  "create sequence mine owned by public.tasks.id",
  "alter sequence tickets owned by public.tasks.id",
  "create table copied as select * from vault.secrets",
  "select * into copied from private.sql_policy",
  "create table leak (pin text default (1).pin_of)",
  "create index on boxes (public.label(label))",
  "alter table boxes alter column label type text using public.label(label)",
  "create schema authorization postgres create table z (id int)",
  'create table public."c\\" (id int) inherits (secrets)',
  "create table fine (id int); drop table secrets",
  "/* create table */ create function f() returns int language sql as $x$ select 1 $x$",
  'create table U&"priv\\0061te".x (id int)',
  "comment on table private.sql_policy is E'mine'",
];

const OFFERED = [
  "create sequence mine owned by public.boxes.id",
  "create view seen with (security_invoker = true) as select s.n from generate_series(1, 3) as s(n)",
  "create view named with (security_invoker = true) as with big as (select id from cities) select id from big",
];

// Attacks by a reader who did not build the SQL tools, with the legitimate uses beside them.
Deno.test("statements of an attacker are refused, and their legitimate twins run", async (t) => {
  await using fixture = await openToolFixture();
  await fixture.sql.unsafe(PROJECT);
  await registerSupabase(fixture);
  const user = await callerWith(fixture, ["sql:write"]);
  const operator = await callerWith(fixture, ["sql:write", "swarm:operate"]);
  const call = async (caller: ToolCaller, args: JsonObject) =>
    (await callSupabase(fixture, caller, "execute_sql", args)).answer;

  for (const [claim, attacks] of Object.entries(REFUSED)) {
    await t.step(claim, async () => {
      const passed: string[] = [];
      for (const attack of attacks) {
        const { sql, params = [] } = typeof attack === "string" ? { sql: attack } : attack;
        // The dry run of a write is its only way to a confirmation.
        const runs = /^(update|insert)/.test(sql) ? [true] : [true, false];
        for (const dryRun of runs) {
          const answer = await call(user, {
            sql,
            params: [...params],
            dry_run: dryRun,
            explain: true,
            timeout: 1_000,
          });
          const { code } = (answer.error ?? {}) as JsonObject;
          const isPlan = /^explain/.test(sql);
          // The class depends on the text alone.
          if (answer.statement_class === "forbidden") break;
          if (code !== "SQL_FORBIDDEN" && !(isPlan && dryRun && answer.plan === undefined)) {
            passed.push(
              `${sql.slice(0, 100)} (dry_run ${dryRun}): ${JSON.stringify(answer).slice(0, 300)}`,
            );
          }
        }
      }
      assert.deepEqual(passed, []);
    });
  }

  await t.step("calls that no timeout interrupts check what they are given", async () => {
    for (const { sql, params = [] } of GUARDED) {
      const answer = await call(user, { sql, params: [...params], dry_run: false });
      const { code, sqlstate } = (answer.error ?? {}) as JsonObject;
      assert.ok(
        code === "SQL_FORBIDDEN" || sqlstate === "54000",
        `${sql.slice(0, 100)} ${JSON.stringify(answer.error)}`,
      );
    }
  });

  await t.step("the legitimate twins of these statements run", async () => {
    const wrong: string[] = [];
    for (const [twin, value] of TWINS) {
      const { sql, params = [] } = typeof twin === "string" ? { sql: twin } : twin;
      const answer = await call(user, { sql, params: [...params], dry_run: false });
      const [row] = (answer.rows ?? []) as unknown[][];
      if (row?.[0] !== value) wrong.push(`${sql} ${JSON.stringify(answer.error ?? row)}`);
    }
    assert.deepEqual(wrong, []);
  });

  const offer = (statement: string) => call(operator, { sql: statement });
  const run = async (statement: string) => {
    const shown = await offer(statement);
    assert.ok(shown.next_call, `${statement} ${JSON.stringify(shown)}`);
    await fixture.sql`update public.sql_confirmations set is_approved = true, decided_at = now()
      where id = ${String(shown.confirmation_id)}`;
    return await call(operator, shown.next_call as JsonObject);
  };

  await t.step("no error of a definition quotes a row", async () => {
    const leaks: string[] = [];
    for (const statement of CONVERSIONS) {
      const ran = await run(statement);
      if (ran.error === undefined) leaks.push(`${statement} ran`);
      if (JSON.stringify(ran).includes(SECRET)) leaks.push(`${statement} ${JSON.stringify(ran)}`);
    }
    assert.deepEqual(leaks, []);
  });

  await t.step("errors of a definition itself keep their messages", async () => {
    for (const [statement, message] of EXPLAINED) {
      const { error } = await run(statement);
      assert.match(String((error as JsonObject | undefined)?.message), message, statement);
    }
  });

  await t.step("definitions reach no function, sequence or table beyond the limits", async () => {
    for (const statement of NOT_OFFERED) {
      assert.equal((await offer(statement)).next_call, undefined, statement);
    }
    for (const statement of OFFERED) {
      assert.equal((await run(statement)).error, undefined, statement);
    }
  });

  await t.step("a cast of a hidden relation is found under the name of a query", async () => {
    await fixture.sql.unsafe(
      "create cast (public.cities as text) with function public.city_text(public.cities)",
    );
    const hidden = await call(user, {
      sql: "with a as (select c::text from cities c), cities as (select 1) select * from a",
      dry_run: false,
    });
    assert.equal((hidden.error as JsonObject | undefined)?.code, "SQL_FORBIDDEN");
    const other = await call(user, { sql: "select b::text from boxes b", dry_run: false });
    assert.deepEqual(other.rows, [["(1,box)"]]);
  });
});

async function callerWith(fixture: ToolFixture, scopes: readonly string[]): Promise<ToolCaller> {
  const userId = await fixture.createUser();
  await fixture.sql`select public.grant_scopes(${userId}, ${`{${scopes.join(",")}}`}::text[])`;
  await fixture.sql`
    insert into public.mcp_policies (mcp_name, user_id, calls_per_minute, burst_calls)
    values ('supabase', ${userId}, 1000000, 10000)`;
  return userCaller(userId);
}
