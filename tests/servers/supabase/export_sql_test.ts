import assert from "node:assert/strict";
import type { JsonObject } from "../../../shared/platform/values/json.ts";
import { asJsonObject } from "../../../shared/platform/values/json.ts";
import { openFixtureOnSharedDatabase } from "../../gateway/tools/shared_database.ts";
import { userCaller } from "../../gateway/tools/tool_fixture.ts";
import { callSupabase, registerSupabase } from "./supabase_call.ts";
import { startStorage } from "../../gateway/tools/storage_server.ts";

const ROWS = 1_500;
const SHOP = `
  create table public.notes (id int primary key, owner uuid not null, body text);
  alter table public.notes enable row level security;
  create policy own on public.notes to authenticated using (owner = auth.uid());
  grant select, insert on public.notes to authenticated;`;

Deno.test("execute_sql exports more rows than an answer contains", async (t) => {
  await using storage = startStorage();
  await using fixture = await openFixtureOnSharedDatabase({ supabaseUrl: storage.url });
  const { sql } = fixture;
  await sql.unsafe(SHOP);
  await registerSupabase(fixture);
  const alice = userCaller(await fixture.createUser());
  const bob = userCaller(await fixture.createUser());
  await sql`
    insert into public.notes
    select n, ${alice.userId}::uuid, case n when 1 then '=1+1' when 2 then E'two\nlines' else 'note ' || n end
    from generate_series(1, ${ROWS}::int) as n`;
  await sql`insert into public.notes values (9000, ${bob.userId}::uuid, 'of Bob')`;
  const run = (args: JsonObject, caller = alice, key?: string) =>
    callSupabase(fixture, caller, "execute_sql", { dry_run: false, ...args }, key);
  const ALL = "select id, body, id as id from notes order by id";
  const fileOf = (answer: JsonObject) => asJsonObject(answer.file);
  const stored = (answer: JsonObject) => storage.files.get(String(fileOf(answer).path))?.text ?? "";

  await t.step("CSV has all rows of the caller, with escaped formulas", async () => {
    const { answer, isError } = await run({ sql: ALL, export: "csv" });
    const lines = stored(answer).split("\r\n");

    assert.equal(isError, false);
    assert.deepEqual([answer.row_count, answer.is_truncated, answer.rows], [
      ROWS,
      false,
      undefined,
    ]);
    assert.deepEqual(lines.slice(0, 3), [
      '"id","body","id_2"',
      `1,"'=1+1",1`,
      '2,"two\nlines",2',
    ]);
    assert.equal(lines.length, ROWS + 2);
    assert.ok(!stored(answer).includes("of Bob"));
    assert.match(
      String(fileOf(answer).path),
      new RegExp(`^${alice.userId}/exports/[0-9a-f]{32}\\.csv$`),
    );
    assert.equal(fileOf(answer).size_bytes, new TextEncoder().encode(stored(answer)).length);
  });

  await t.step("JSON is a list of objects", async () => {
    const { answer } = await run({ sql: ALL, export: "json" });
    const rows = JSON.parse(stored(answer)) as JsonObject[];

    assert.equal(rows.length, ROWS);
    assert.deepEqual(rows[1], { id: 2, body: "two\nlines", id_2: 2 });
    const none = await run({ sql: "select id from notes where false", export: "json" });
    assert.deepEqual(JSON.parse(stored(none.answer)), []);
  });

  await t.step("its address is signed, and no table contains it", async () => {
    const { answer } = await run({ sql: ALL, export: "csv" });
    const url = String(fileOf(answer).url);
    const [{ found } = { found: "" }] = await sql<{ found: string }[]>`
      select string_agg(execution::text, ' ') as found from public.mcp_executions as execution`;

    assert.equal(await (await fetch(url)).text(), stored(answer));
    assert.ok(found.includes("exports") && !found.includes(url));
  });

  await t.step("a repeated call stores one file, however often it is delivered", async () => {
    const { answer: first } = await run({ sql: ALL, export: "csv" }, alice, "task:1");
    const before = storage.files.size;
    const { answer: again } = await run({ sql: ALL, export: "csv" }, alice, "task:1");

    assert.equal(fileOf(again).path, fileOf(first).path);
    assert.equal(storage.files.size, before);
  });

  await t.step(
    "rows and bytes above the limits are omitted, which the answer reports",
    async () => {
      await sql`update private.sql_policy set max_export_rows = 1200`;
      const byRows = await run({ sql: ALL, export: "json" });
      await sql`update private.sql_policy set max_export_rows = 100000, max_export_bytes = 5000`;
      const byBytes = await run({ sql: ALL, export: "json" });
      await sql`update private.sql_policy set max_export_bytes = 10485760`;

      assert.deepEqual([byRows.answer.row_count, byRows.answer.is_truncated], [1200, true]);
      assert.equal((JSON.parse(stored(byRows.answer)) as unknown[]).length, 1200);
      assert.equal(byBytes.answer.is_truncated, true);
      assert.ok(Number(fileOf(byBytes.answer).size_bytes) <= 5000);
      assert.equal(
        (JSON.parse(stored(byBytes.answer)) as unknown[]).length,
        byBytes.answer.row_count,
      );
    },
  );

  await t.step("a read that fails midway leaves no file", async () => {
    const before = storage.files.size;
    const { answer } = await run({
      sql: `select 1 / (${ROWS} - id) from notes order by id`,
      export: "csv",
    });

    assert.deepEqual([asJsonObject(answer.error).sqlstate, answer.statement_class], [
      "22012",
      "read",
    ]);
    assert.equal(storage.files.size, before);
  });

  await t.step("a Storage failure after the upload leaves no file", async () => {
    const before = storage.files.size;
    storage.failSigning = true;
    const { errorCode } = await run({ sql: "select 77", export: "csv" });
    storage.failSigning = false;

    assert.equal(errorCode, "STORAGE_UNAVAILABLE");
    assert.equal(storage.files.size, before);
  });

  await t.step("a statement without rows is refused, and nothing is stored", async () => {
    const before = storage.files.size;
    await sql`select public.grant_scopes(${alice.userId}, array['sql:write'])`;
    for (const statement of ["explain select 1", "insert into notes values (1, null, null)"]) {
      const { answer } = await run({ sql: statement, export: "csv", read_only: false });
      assert.equal(asJsonObject(answer.error).code, "TOOL_ARGUMENTS_INVALID", statement);
      assert.ok(["read", "write"].includes(String(answer.statement_class)));
    }
    const { answer } = await run({ sql: "drop table notes; select 1", export: "csv" });
    assert.equal(answer.statement_class, "multi");
    assert.equal(storage.files.size, before);
  });

  await t.step("the owner's quota applies", async () => {
    await sql`
      insert into private.quotas (name, user_id, amount) values ('stored_bytes', ${alice.userId}, 100)`;
    const { errorCode } = await run({ sql: ALL, export: "csv" });

    assert.equal(errorCode, "QUOTA_EXCEEDED");
  });

  await t.step("a dry run plans it, and its next_call exports", async () => {
    const { answer } = await run({ sql: "select 1", params: [], export: "csv", dry_run: true });

    assert.deepEqual(answer.next_call, { sql: "select 1", export: "csv", dry_run: false });
  });

  await t.step("an answer that omits rows explains how to get them", async () => {
    const { answer } = await run({ sql: ALL });

    assert.equal(answer.is_truncated, true);
    assert.match(String(answer.warnings), /export csv or json/);
  });
});
