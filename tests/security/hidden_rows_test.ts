import assert from "node:assert/strict";
import type { TransactionSql } from "../../shared/vendor/postgres.js";
import type { JsonObject } from "../../shared/platform/values/json.ts";
import { callSupabase, registerSupabase } from "../servers/supabase/supabase_call.ts";
import { openToolFixture, userCaller } from "../gateway/tools/tool_fixture.ts";

/** Accounts that only their owners see, and a list that everyone sees. */
const BANK = `
  create table public.accounts (
    iban text primary key,
    owner_id uuid not null default auth.uid(),
    branch text not null default 'north'
  );
  create index on public.accounts (branch);
  alter table public.accounts enable row level security;
  create policy own on public.accounts to authenticated
    using (owner_id = auth.uid()) with check (owner_id = auth.uid());
  create table public.branches (name text primary key, city text not null);
  create table public.vaults (id int primary key, code text not null);
  create table public.regions (name text, size int) partition by list (name);
  create table public.regions_north partition of public.regions for values in ('north');
  create table public.clients (firm text, owner_id uuid) partition by list (firm);
  create table public.clients_1 partition of public.clients for values in ('hidden & sons');
  alter table public.clients enable row level security;
  create policy own on public.clients to authenticated using (owner_id = auth.uid());
  create table public.letters (firm text) partition by list (firm);
  create table public.letters_1 partition of public.letters for values in ('hidden & sons');
  create view public.open_vaults as select id from public.vaults where code = 'open';
  create function public.account_list() returns setof public.accounts language sql stable
    as 'select * from public.accounts';
  grant select, insert, update, delete on public.accounts to authenticated;
  grant select on public.branches, public.regions, public.clients, public.open_vaults to authenticated;
  grant insert on public.letters to authenticated;
  grant select (id) on public.vaults to authenticated;
  insert into public.accounts (iban, owner_id)
    select 'DE' || n, gen_random_uuid() from generate_series(1, 500) as n;
  insert into public.branches select 'branch ' || n, 'city' from generate_series(1, 50) as n;
  insert into public.regions values ('north', 1);
  insert into public.vaults values (1, 'open'), (2, 'shut');
  analyze public.accounts, public.branches, public.vaults;
  update private.sql_policy set read_functions = '{public.account_list}';
`;

/** Queries of which the caller may not see every row. */
const PARTIAL = [
  "select * from accounts where iban = 'DE7' and owner_id is null",
  "select * from branches b where exists (select from accounts a where a.branch = b.name)",
  "with accounts as (select * from accounts where iban = 'DE7') select * from accounts",
  "select * from open_vaults where id = 2",
  "select id from vaults where id = 2",
  "select * from account_list() where iban = 'DE7'",
  "select relname from pg_class where relname = 'x'",
  "with recursive a as (with pg_class as (select 1 as n) select n from pg_class) " +
  "select relname, n from pg_class, a",
];

Deno.test("no answer depends on rows that its caller may not see", async (t) => {
  await using fixture = await openToolFixture();
  await fixture.sql.unsafe(BANK);
  await registerSupabase(fixture);
  const userId = await fixture.createUser();
  await fixture.sql`select public.grant_scopes(${userId}, array['sql:write'])`;
  const user = userCaller(userId);
  const call = (args: JsonObject) => callSupabase(fixture, user, "execute_sql", args);

  for (const query of PARTIAL) {
    await t.step(`EXPLAIN shows nothing of ${query}`, async () => {
      for (const prefix of ["explain", "explain analyze", "explain (analyze, costs off)"]) {
        const { answer, text } = await call({ sql: `${prefix} ${query}`, dry_run: false });

        assert.equal((answer.error as JsonObject | undefined)?.code, "SQL_FORBIDDEN", prefix);
        assert.doesNotMatch(text, /Rows Removed|rows=|Scan/);
      }
    });

    await t.step(`neither a dry run nor a read has a plan of ${query}`, async () => {
      for (const isDryRun of [true, false]) {
        const { answer } = await call({ sql: query, dry_run: isDryRun, explain: true });

        assert.equal(answer.error, undefined);
        assert.equal(answer.plan, undefined);
        assert.equal(answer.estimated_rows ?? null, null);
        assert.equal(answer.total_cost ?? null, null);
        assert.match(String(answer.warnings), /the plan depends on rows that you may not see/);
      }
    });
  }

  await t.step(
    "queries whose rows the caller may all see have plans and measurements",
    async () => {
      for (const query of ["select * from branches", "select size from regions", "select 1 as n"]) {
        const planned = await call({ sql: query, explain: true });
        assert.ok(planned.answer.plan, query);
        assert.equal(typeof planned.answer.total_cost, "number");
        const measured = await call({ sql: `explain analyze ${query}`, dry_run: false });
        assert.match(String(measured.answer.rows), /actual/);
      }
    },
  );

  await t.step("the limit of a write's dry run does not tell how many rows match", async () => {
    const limits = new Set<unknown>();
    for (const branch of ["north", "south"]) {
      const { answer } = await call({
        sql: `update accounts set branch = 'x' where branch = '${branch}'`,
      });
      assert.equal(answer.estimated_rows, null);
      limits.add(answer.max_affected_rows);
    }

    assert.deepEqual([...limits], [10_000]);
  });

  await t.step(
    "EXPLAIN ANALYZE of a write is refused, EXPLAIN of one's own table too",
    async () => {
      const measured = await call({ sql: "explain analyze delete from accounts" });
      const planned = await call({ sql: "explain delete from accounts", dry_run: false });

      for (const { answer } of [measured, planned]) {
        assert.equal((answer.error as JsonObject).code, "SQL_FORBIDDEN");
      }
    },
  );

  await t.step("a violated key is named without the row", async () => {
    const sql = "insert into accounts (iban) values ('DE7')";
    const { answer: { next_call: next } } = await call({ sql });
    const { answer, text } = await call(next as JsonObject);
    const error = answer.error as JsonObject;

    assert.equal(error.sqlstate, "23505");
    assert.match(String(error.message), /accounts_pkey/);
    assert.equal(error.detail, undefined);
    assert.ok(!text.includes("DE7"), text);

    const record = { table: "accounts", data: { iban: "DE7" } };
    const shown = await callSupabase(fixture, user, "add_records", record);
    const added = await callSupabase(
      fixture,
      user,
      "add_records",
      shown.answer.next_call as JsonObject,
    );
    assert.match(added.text, /accounts_pkey/);
    assert.ok(!JSON.stringify(added).includes("already exists"), added.text);
  });

  await t.step("sizes of relations are not readable", async () => {
    for (const name of ["pg_relation_size", "pg_table_size", "pg_total_relation_size"]) {
      const { answer } = await call({ sql: `select ${name}('accounts')`, dry_run: false });
      assert.equal(answer.statement_class, "forbidden");
    }
  });

  await t.step(
    "generate_schema has sizes only of tables that the caller sees in full",
    async () => {
      const { answer } = await callSupabase(fixture, user, "generate_schema", {
        format: "json",
        tables: ["accounts", "branches"],
      });
      const [accounts, branches] = answer.tables as JsonObject[];
      const bytesOf = (table: JsonObject | undefined) =>
        (table?.indexes as JsonObject[]).map(({ estimated_bytes }) => typeof estimated_bytes);

      assert.equal(accounts?.row_estimate, null);
      assert.equal(branches?.row_estimate, 50);
      assert.deepEqual(bytesOf(accounts), ["object", "object"]);
      assert.deepEqual(bytesOf(branches), ["number"]);
    },
  );

  await t.step(
    "generate_schema has bounds only of tables that the caller sees in full",
    async () => {
      const tables = ["clients", "letters", "regions"];
      const read = (format: string) =>
        callSupabase(fixture, user, "generate_schema", { format, tables });
      const { answer } = await read("json");

      assert.deepEqual(
        (answer.tables as JsonObject[]).map(({ partitions }) =>
          (partitions as JsonObject[]).map(({ name, bound }) => `${name} ${bound}`)
        ),
        [["clients_1 null"], ["letters_1 null"], ["regions_north FOR VALUES IN ('north')"]],
      );
      for (const format of ["sql", "markdown"]) {
        const { text } = await read(format);
        assert.match(text, /clients_1/, format);
        assert.match(text, /FOR VALUES IN \('north'\)/, format);
        assert.doesNotMatch(text, /hidden/, format);
      }
    },
  );

  await t.step(
    "a sample of one's own rows tells of the rows of others, so it is refused",
    async () => {
      const samples = new Set<string>();
      for (const others of [0, 7]) {
        // What the server itself answers when others have written 0 or 7 rows before.
        await fixture.sql.begin(async (transaction: TransactionSql) => {
          await transaction.unsafe(`create table public.proof (id int, owner_id uuid);
          insert into public.proof select 0, gen_random_uuid() from generate_series(1, ${others});
          insert into public.proof select n, '${userId}' from generate_series(1, 20) as n;
          alter table public.proof enable row level security;
          create policy own on public.proof to authenticated using (owner_id = '${userId}');
          grant select on public.proof to authenticated; set local role authenticated`).simple();
          const own = await transaction`
          select id from public.proof tablesample bernoulli (50) repeatable (1)`;
          samples.add(JSON.stringify(own.map(({ id }) => id)));
          await transaction.unsafe("set local role none; drop table public.proof").simple();
        });
      }
      assert.equal(samples.size, 2);

      for (const method of ["system", "bernoulli"]) {
        for (const table of ["accounts", "public.accounts"]) {
          const query = `select iban from ${table} tablesample ${method} (50) repeatable (1)`;
          const written = `insert into branches (name, city) ${
            query.replace("iban", "iban, iban")
          }`;
          for (const sql of [query, `with a as (${query}) select count(*) from a`, written]) {
            const { answer } = await call({ sql, dry_run: sql === written });
            const error = answer.error as JsonObject | undefined;
            assert.equal(error?.code, "SQL_FORBIDDEN", sql);
            assert.match(String(error?.message), /the sample depends on rows/);
          }
        }
      }
    },
  );

  await t.step("tables that hide no row from the caller can be sampled", async () => {
    await fixture.sql.unsafe(`create table public.notices (id int);
      alter table public.notices enable row level security;
      create policy everyone on public.notices for select to authenticated using (true);
      insert into public.notices values (1); grant select on public.notices to authenticated`);
    for (const table of ["branches", "notices"]) {
      const { answer } = await call({
        sql: `select * from ${table} tablesample bernoulli (100)`,
        dry_run: false,
      });
      assert.ok(Number(answer.row_count) > 0, JSON.stringify(answer.error));
    }
    await fixture.sql.unsafe(
      "create policy most on public.notices as restrictive to authenticated using (id > 1)",
    );
    const { answer } = await call({ sql: "select * from notices tablesample system (100)" });
    assert.equal((answer.error as JsonObject | undefined)?.code, "SQL_FORBIDDEN");
  });

  await t.step("a sequence does not tell how many rows others have written", async () => {
    await fixture.sql.unsafe(`create sequence public.numbers;
      grant select, usage, update on public.numbers to authenticated`);
    for (
      const sql of [
        "select last_value from numbers",
        "table public.numbers",
        "select (select last_value from numbers)",
        "select (n).last_value from numbers n",
        "insert into branches (name, city) select last_value, 'x' from numbers",
      ]
    ) {
      const { answer } = await call({ sql, dry_run: sql.startsWith("insert") });
      assert.equal((answer.error as JsonObject | undefined)?.code, "SQL_FORBIDDEN", sql);
      assert.doesNotMatch(JSON.stringify(answer), /next_call/);
    }
    for (
      const sql of [
        "select last_value from pg_sequences",
        "select currval('numbers')",
        "select lastval()",
        "select setval('numbers', 1)",
        "select pg_sequence_last_value('numbers')",
      ]
    ) {
      assert.equal((await call({ sql })).answer.statement_class, "forbidden", sql);
    }
    const shown = await call({ sql: "select nextval('numbers')" });
    const taken = await call(shown.answer.next_call as JsonObject);
    assert.deepEqual(taken.answer.rows, [[1]], JSON.stringify(taken.answer.error));
    const listed = await call({
      sql: "select sequencename, increment_by from pg_sequences where sequencename = 'numbers'",
      dry_run: false,
    });
    assert.deepEqual(listed.answer.rows, [["numbers", 1]]);
  });

  await t.step("the right to maintain a table is nobody's through a statement", async () => {
    const [server] = await fixture
      .sql`select current_setting('server_version_num')::int as version`;
    if (Number(server?.version) >= 170_000) {
      await fixture.sql.unsafe("grant maintain on public.accounts to authenticated");
    }
    const statements = [
      "vacuum accounts",
      "vacuum (full) accounts",
      "analyze accounts",
      "cluster accounts using accounts_pkey",
      "reindex table accounts",
      "lock table accounts in access exclusive mode",
      "checkpoint",
    ];
    for (const sql of statements) {
      const { answer } = await call({ sql, dry_run: false, read_only: false });
      assert.equal(answer.statement_class, "forbidden", sql);
    }
    const { answer } = await call({
      sql: "refresh materialized view totals",
      dry_run: false,
      read_only: false,
    });
    assert.equal((answer.error as JsonObject | undefined)?.code, "MIGRATION_REQUIRED");
  });
});
