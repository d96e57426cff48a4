import assert from "node:assert/strict";
import type { JsonObject } from "../../shared/platform/values/json.ts";
import { classifySql } from "../../shared/servers/sql/classify_sql.ts";
import { GUARDED } from "../../shared/servers/sql/guarded_calls.ts";
import { DEFAULT_SQL_POLICY } from "../../shared/servers/sql/sql_policy.ts";
import {
  type StatementAnswer,
  statementAnswer,
} from "../../shared/servers/supabase/statement_request.ts";
import { answerOf, callOf, openToolFixture, userCaller } from "../gateway/tools/tool_fixture.ts";

const GUARD_SCHEMAS = ["growth", "key", "number", "search", "shape", "text", "word"]
  .map((kind) => `supaswarm_${kind}_guards`);

Deno.test("only a statement that could search long values needs guards", async () => {
  const expected: Readonly<Record<string, string>> = {
    "select * from t where name like 'a%' or tags @> array['a', 'b']": "shape",
    [`select payload @> '{"a": 1}', strpos(name, 'x'), position('x' in name) from t`]: "shape",
    "select sum(price * quantity), round(100.0 * a / b, 2), lpad(id::text, 5, '0') from t": "",
    "select string_agg(name, ', ') from t": "growth",
    "select * from t where name like $1": "search?",
    "select strpos(a, b) from t": "search",
    "select * from a join b on a.name like '%' || b.name || '%'": "search",
    "select a.tags && b.tags from a, b": "search shape",
    "select * from t order by embedding <-> $1": "shape",
    "select * from t where to_tsvector('english', body) @@ plainto_tsquery('a b')": "word",
    "select * from t where words @@ to_tsquery($1)": "text?",
    "select ts_headline(body, to_tsquery('a')) from t": "text",
    "select ts_headline(body, q) from t, to_tsquery('a') q where to_tsvector(body) @@ q":
      "text word",
    "select a - b from t": "key",
    "select a * b, c * d, e * f, g * h, i * j from t": "number",
    "select count(*) from t group by a having string_agg(b, '') like 'x%'": "search growth",
    "select repeat(a, b) like 'x%' from t": "search growth",
    "with recursive r (x) as (select 2.0 union all select x * x from r) select x from r":
      "number growth",
    "select array(select a from t) @> array[1]": "search shape growth",
  };
  for (const [sql, kinds] of Object.entries(expected)) {
    const { statementClass, statement } = await classifySql(sql, DEFAULT_SQL_POLICY);
    const guards = statement?.guards.map(({ name, isForLongParameters }) =>
      name.replaceAll(/supaswarm_|_guards/g, "") + (isForLongParameters ? "?" : "")
    );
    assert.deepEqual([statementClass, guards?.join(" ")], ["read", kinds], sql);
  }
});

Deno.test("a search of one column for another cannot go around the guards", async () => {
  for (
    const sql of [
      "select position(a in b) from t",
      "select normalize(a, NFC) from t",
      "select a is nfd normalized from t",
      "select pg_catalog.to_tsvector(a) from t",
      "select pg_catalog.normalize($1, 'NFC')",
      "select a operator(pg_catalog.<->) b from t",
      "select trim(both b from a) from t",
      "select pg_catalog.strpos(a, b) from t",
      "select pg_catalog.strpos(a, $1) from t",
      "select a operator(pg_catalog.~~) b from t",
      "select a operator(pg_catalog.*) b from t",
      "select strpos(a, b), supaswarm_search_guards.strpos(a, b) from t",
    ]
  ) {
    assert.equal((await classifySql(sql, DEFAULT_SQL_POLICY)).statementClass, "forbidden", sql);
  }
});

Deno.test("the guards replace the functions and operators that the policy expects", async () => {
  await using fixture = await openToolFixture();
  const rows = await fixture.sql<{ schema: string; name: string; is_operator: boolean }[]>`
    select schema.nspname as schema, member.name, member.is_operator
    from pg_namespace as schema
    join (
      select pronamespace as id, proname::text as name, false as is_operator from pg_proc
      union
      select oprnamespace, oprname::text, true from pg_operator
    ) as member on member.id = schema.oid
    where ${fixture.sql.json(GUARD_SCHEMAS)} ? schema.nspname`;

  for (const [kind, { functions, operators }] of Object.entries(GUARDED)) {
    const own = rows.filter(({ schema }) => schema === `supaswarm_${kind}_guards`);
    const names = (isOperator: boolean) =>
      own.filter(({ is_operator }) => is_operator === isOperator).map(({ name }) => name).sort();
    assert.deepEqual(names(false), [...functions].sort(), kind);
    assert.deepEqual(names(true), [...operators].sort(), kind);
  }
});

/** Expressions over the columns of {@linkcode ROWS}. */
const EXPRESSIONS = [
  "strpos(a, b), replace(a, b, 'z'), split_part(a, b, 2), translate(a, b, 'xyz')",
  "string_to_array(a, b), array_to_string(string_to_array(a, b), a), btrim(a, b), ltrim(a, b)",
  "a like b, a not like b, a ilike '%' || b, a like any (array[b, a]), b || a",
  "l && m, l @> m, l <@ m, l || m, j @> k, j <@ k, j ?| array[b], j ?& array[b], j - array[a, b]",
  "n * o, n / nullif(o, 0), n % nullif(o, 0), abs(n) ^ 2.5, log(abs(n)), ln(abs(n)), sqrt(abs(n)), exp(o), power(o, 3), gcd(n, o)",
  "to_tsvector(a), to_tsvector('simple', b), to_tsvector(j), plainto_tsquery(a), to_tsquery('simple', 'a')",
  `"normalize"(a, 'NFC'), is_normalized(b, 'NFD'), ts_headline('simple', a, plainto_tsquery('simple', b))`,
  "path(polygon(box(point(1, n), point(o, 2)))) <-> path(polygon(box(point(1, o), point(n, 9))))",
  "polygon(box(point(1, n), point(o, 2))) && polygon(box(point(1, 1), point(2, 2)))",
  "lpad(a, 9, b), rpad(a, 9, b), repeat(a, 3), array(select unnest(l) union all select 1)",
  "ts_rank(to_tsvector('simple', a), plainto_tsquery('simple', b))",
  "(select string_agg(part, '-') from string_to_table(a, b) as part)",
];
const ROWS = `
  create table public.guarded (a text, b text, l int[], m int[], j jsonb, k jsonb, n numeric, o numeric);
  insert into public.guarded values
    ('ananas', 'na', '{1,2,3}', '{3}', '{"na": 1, "x": [1, 2]}', '{"x": [2]}', 10.5, 3),
    ('', '%', '{}', '{4}', '["na"]', '"na"', -7, 0.25),
    (null, 'na', null, '{1}', null, '{}', null, 2);
  grant select on public.guarded to authenticated;
`;

Deno.test("guards change no result", async () => {
  await using fixture = await openToolFixture();
  const { sql } = fixture;
  await sql.unsafe(ROWS);
  for (const expression of EXPRESSIONS) {
    const results: unknown[] = [];
    for (const before of [[], GUARD_SCHEMAS]) {
      results.push(
        await sql.begin(async (transaction) => {
          const path = [...before, "pg_catalog", "public"].join(", ");
          await transaction.unsafe(`set local search_path = ${path}`);
          const rows = await transaction.unsafe(
            `select to_jsonb(result) as result from (select ${expression} from public.guarded) as result`,
          );
          return rows.map(({ result }) => Object.values(result as JsonObject));
        }),
      );
    }
    assert.deepEqual(results[1], results[0], expression);
  }
});

Deno.test("execute_sql refuses calls that no timeout would end, and runs the short ones", async () => {
  await using fixture = await openToolFixture();
  const { sql } = fixture;
  await sql.unsafe(ROWS);
  await sql`
    insert into public.guarded (a, b, l, m, n)
    select repeat('a', 200000), 'b' || repeat('a', 100000), list, list, repeat('7', 100000)::numeric
    from (select array_agg(g) as list from generate_series(1, 60000) as g) as made`;
  const registered = [{ slug: "supabase", name: "Supabase", description: "SQL" }];
  await sql`select private.register_servers(${sql.json(registered)})`;
  const reader = userCaller(await fixture.createUser());
  const run = async (statement: string, params: string[] = []): Promise<StatementAnswer> => {
    const call = callOf({ server: "supabase", toolName: "execute_sql" } as never, reader, {
      sql: statement,
      params,
      dry_run: false,
      timeout: 5_000,
    });
    return statementAnswer.parse((await answerOf(fixture.gateway, call)).structured);
  };
  const tooLong = [
    "select strpos(a, b) from guarded",
    "select a like b from guarded",
    "select l && m, l @> m from guarded",
    "select sum(n * n), sum(n / n), sum(n % n), sum(n * 2), sum(n ^ 7) from guarded",
    "select strpos(string_agg(a, ''), $1) from guarded",
    "select length(to_tsvector('simple', a)) from guarded",
    `select length("normalize"(a, 'NFC')) from guarded`,
    `with recursive r (i, x) as (
       select 1, 'b'::text union all select i + 1, x || x from r where i < 40
     ) select max(length(x)) from r`,
    `select count(*) from (select string_agg('ab', '') as x, string_agg('ab', '') || 'c' as y
     from generate_series(1, 100000)) as grown where strpos(x, y) > 0`,
  ];
  for (const statement of tooLong) {
    const { error } = await run(statement, statement.includes("$1") ? ["b".repeat(5_000)] : []);
    assert.equal(error?.sqlstate, "54000", `${statement}: ${JSON.stringify(error)}`);
    assert.match(error?.hint ?? "", /left\(value, 1000\)/);
  }
  const search =
    "select id from pages where to_tsvector('simple', body) @@ to_tsquery('simple', 'a')";
  await sql`
    create table public.pages as select 1 as id, repeat('a b ', 50000) as body`;
  await sql`grant select on public.pages to authenticated`;
  assert.equal((await run(search)).error?.sqlstate, "54000");
  await sql`create index on public.pages using gin (to_tsvector('simple', body))`;
  assert.deepEqual(
    (await run(search)).rows,
    [[1]],
    "whoever wrote the row has waited for its words",
  );
  const short = [
    "select strpos(left(a, 1000), left(b, 1000)) from guarded",
    "select strpos(a, 'b') from guarded where a like 'an%'",
    "select sum(o * o), string_agg(left(a, 10), ', ') from guarded",
    "select array_to_string(array_agg(left(b, 3)), '; ') from guarded",
    `with recursive tree (id, path) as (
       select 1, array[1] union all select id + 1, path || id from tree
       where id < 50 and not id + 1 = any (path)
     ) select max(cardinality(path)) from tree`,
  ];
  for (const statement of short) {
    const answer = await run(statement);
    assert.equal(answer.error, undefined, `${statement}: ${JSON.stringify(answer.error)}`);
  }
});
