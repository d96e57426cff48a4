import assert from "node:assert/strict";
import type { JsonObject } from "../../../shared/platform/values/json.ts";
import { asJsonObject } from "../../../shared/platform/values/json.ts";
import { callSupabase, registerSupabase } from "../../servers/supabase/supabase_call.ts";
import { openToolFixture, userCaller } from "./tool_fixture.ts";

const SHOP = `
  create table public.products (id int primary key, name text not null);
  alter table public.products enable row level security;
  create policy everyone on public.products to authenticated using (true) with check (true);
  grant select, update on public.products to authenticated;
  insert into public.products select n, 'product ' || n from generate_series(1, 34) as n;`;

Deno.test("a statement's long values neither fill nor block the isolate", async (t) => {
  await using fixture = await openToolFixture({ db: "pglite" });
  const { sql } = fixture;
  await sql.unsafe(SHOP);
  await registerSupabase(fixture);
  const userId = await fixture.createUser();
  await sql`select public.grant_scopes(${userId}, array['sql:write'])`;
  const run = async (args: JsonObject) =>
    (await callSupabase(fixture, userCaller(userId), "execute_sql", args)).answer;
  const read = (statement: string) => run({ sql: statement, dry_run: false });
  const write = async (statement: string) =>
    await run(asJsonObject((await run({ sql: statement })).next_call));
  const nameOf = async (id: number) =>
    (await sql`select name from public.products where id = ${id}`)[0]?.name;

  await t.step("a value above the limit fails only its statement", async () => {
    const value = longText(34_000_000);
    const answers = [
      await read(`select ${value}`),
      await write(`update products set name = 'new' where id = 1 returning ${value}`),
    ];

    for (const { error } of answers) assert.equal(asJsonObject(error).code, "OUTPUT_TOO_LARGE");
    assert.equal(await nameOf(1), "product 1");
    assert.deepEqual((await read("select 1")).rows, [[1]]);
  });

  await t.step("rows are cut to the byte limit of an answer, even those of writes", async () => {
    const answers = [
      await read(`select id, ${longText(400_000)} from products order by id limit 10`),
      await write(
        `update products set name = 'new' where id <= 10 returning id, ${longText(400_000)}`,
      ),
    ];

    for (const { row_count: rowCount, is_truncated: isTruncated } of answers) {
      assert.deepEqual([rowCount, isTruncated], [2, true]);
    }
    assert.equal(answers[1]?.affected_rows, 10);
    assert.equal(await nameOf(10), "new");
  });

  await t.step("an error that quotes a long value is shortened before it is searched", async () => {
    const error = asJsonObject((await read(`select ${longText(100_000)}::int`)).error);

    assert.equal(error.sqlstate, "22P02");
    assert.ok(String(error.message).length < 3_000);
  });
});

/** A query for a text that is too long for a constant. */
function longText(characters: number): string {
  return `(select string_agg(repeat('x', 10000), '') from generate_series(1, ${
    characters / 10_000
  }))`;
}
