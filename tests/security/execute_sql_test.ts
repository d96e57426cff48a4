import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import type { JsonObject } from "../../shared/platform/values/json.ts";
import type { AnsweredCall } from "../../shared/gateway/tool_contracts/tool_call.ts";
import type { ToolCaller } from "../../shared/gateway/tool_contracts/tool_caller.ts";
import { sendOne } from "../../shared/servers/supabase/guarded_transaction.ts";
import {
  type StatementAnswer,
  statementAnswer,
} from "../../shared/servers/supabase/statement_request.ts";
import {
  answerOf,
  callOf,
  noAbort,
  nobody,
  openToolFixture,
  type ToolFixture,
  userCaller,
} from "../gateway/tools/tool_fixture.ts";
import { readSqlCorpus } from "./sql_corpus.ts";

const EXECUTE_SQL = { server: "supabase", toolName: "execute_sql" };

/**
 * A shop whose rows belong to their users, and objects that a careless operator may have left in
 * it.
 */
const SHOP = `
  create table public.products (id int primary key, name text not null, price numeric);
  create table public.customers (id int primary key, name text);
  create table public.cities (id int primary key, name text);
  create table public.todos (
    id int generated always as identity primary key,
    user_id uuid not null default auth.uid(),
    title text not null,
    done boolean not null default false
  );
  create sequence public.seq1;
  alter table public.products enable row level security;
  alter table public.customers enable row level security;
  alter table public.todos enable row level security;
  create policy everyone on public.products to authenticated using (true) with check (true);
  create policy everyone on public.customers to authenticated using (true);
  create policy own on public.todos to authenticated using (user_id = auth.uid());
  grant select, insert, update, delete on public.products, public.customers, public.todos to authenticated;
  grant usage on sequence public.seq1 to authenticated;
  insert into public.products select n, 'product ' || n, n from generate_series(1, 1500) as n;
  grant select on public.cities to authenticated;
  insert into public.customers values (1, 'Ann');
  insert into public.cities select n, 'city ' || n from generate_series(1, 100) as n;
  analyze public.products, public.cities;
`;

/** Tables of which the caller may write only a part. */
const CLOSED = `
  create table public.drawers (id int primary key, label text, secret text, owner_id uuid);
  alter table public.drawers enable row level security;
  create policy read_all on public.drawers for select to authenticated using (true);
  create policy change_all on public.drawers for update to authenticated using (true);
  create policy never on public.drawers for insert to authenticated with check (false);
  insert into public.drawers values (1, 'first', 'x');
  grant select, insert, delete, update (label) on public.drawers to authenticated;
  create table public.serials (id bigserial primary key, note text);
  grant select, insert on public.serials to authenticated;
  revoke all on sequence public.serials_id_seq from authenticated;
  create table public.identities (id bigint generated always as identity primary key, note text);
  grant select, insert on public.identities to authenticated;
  revoke all on sequence public.identities_id_seq from authenticated;
`;

const CLOSED_WRITES: readonly (readonly [statement: string, right: RegExp])[] = [
  ["insert into cities (id) values (1000)", /INSERT on public\.cities/],
  ["delete from public.cities where id = 1", /DELETE on public\.cities/],
  ["update cities set name = 'x' where id = 1", /UPDATE on public\.cities/],
  ["with gone as (delete from cities returning 1) select * from gone", /DELETE on public\.cities/],
  ["update drawers set secret = 'y' where id = 1", /UPDATE on column secret of public\.drawers/],
  ["insert into drawers (id) values (2)", /a policy of public\.drawers for INSERT/],
  ["delete from drawers where id = 1", /a policy of public\.drawers for DELETE/],
  ["insert into serials (note) values ('a')", /USAGE on sequence public\.serials_id_seq/],
  ["select nextval('public.serials_id_seq')", /USAGE on sequence public\.serials_id_seq/],
  [
    "merge into cities c using drawers d on c.id = d.id when matched then update set name = 'x'",
    /UPDATE on public\.cities/,
  ],
];

/** Writes beside them that the caller may make. */
const OPEN_WRITES = [
  "update drawers set label = 'renamed' where id = 1",
  "insert into serials (id, note) values (7, 'a')",
  "insert into identities (note) values ('a')",
];

interface Called {
  readonly outcome: AnsweredCall;
  readonly answer: StatementAnswer;
}

Deno.test("execute_sql runs only what its caller may run", async (t) => {
  const fixture = await openToolFixture();
  try {
    const { sql } = fixture;
    await sql.unsafe(SHOP);
    const registered = [{ slug: "supabase", name: "Supabase", description: "SQL" }];
    await sql`select private.register_servers(${sql.json(registered)})`;
    const alice = await writer(fixture);
    const bob = await writer(fixture);
    const reader = userCaller(await fixture.createUser());
    await sql`
      insert into public.todos (user_id, title)
      values (${alice.userId}, 'of Alice'), (${bob.userId}, 'of Bob')`;
    const call = (caller: ToolCaller, args: JsonObject, key?: string) =>
      execute(fixture, caller, args, key);
    const dryRun = async (caller: ToolCaller, statement: string, params?: JsonObject) => {
      const { answer } = await call(caller, { sql: statement, ...params });
      assert.ok(answer.next_call, JSON.stringify(answer));
      return answer.next_call as JsonObject;
    };

    await t.step("a read returns only the caller's rows, with columns and types", async () => {
      const { answer, outcome } = await call(alice, {
        sql: "select title, done, now()::date as today, 2::bigint as two from todos",
        dry_run: false,
      });

      assert.deepEqual(answer.rows?.map(([title, done, , two]) => [title, done, two]), [
        ["of Alice", false, 2],
      ]);
      assert.match(String(answer.rows?.[0]?.[2]), /^\d{4}-\d\d-\d\d$/);
      assert.deepEqual(answer.columns?.map(({ type }) => type), [
        "text",
        "boolean",
        "date",
        "bigint",
      ]);
      assert.match(JSON.stringify(outcome.content), /"text":"<untrusted_data /);
      assert.doesNotMatch(outcome.text, /untrusted_data/);
    });

    await t.step("numbers that JSON does not have are texts, not nulls", async () => {
      const { answer } = await call(alice, {
        sql: "select 'NaN'::float8, 'Infinity'::float4, '-Infinity'::numeric, null::float8",
        dry_run: false,
      });

      assert.deepEqual(answer.rows, [["NaN", "Infinity", "-Infinity", null]]);
    });

    await t.step("dry_run plans and runs nothing", async () => {
      const { answer } = await call(alice, {
        sql: "select 1 / (id - id) from cities",
        explain: true,
      });

      assert.equal(answer.dry_run, true);
      assert.ok((answer.estimated_rows ?? 0) > 0 && answer.plan !== undefined);
      assert.deepEqual(answer.tables, ["cities"]);
    });

    await t.step("parameters are bound, not pasted", async () => {
      const { answer } = await call(alice, {
        sql: "select name from products where id = $1 and name <> $2",
        params: [7, "'; drop table products; --"],
        dry_run: false,
      });

      assert.deepEqual(answer.rows, [["product 7"]]);
    });

    await t.step("a document is bound as JSON, or as text where a text is expected", async () => {
      const { answer } = await call(alice, {
        sql: "select $1::jsonb -> 'a', jsonb_typeof($2::jsonb), $3::text, $4::jsonb",
        params: [{ a: 1 }, [1, 2], { b: [2] }, "text"],
        dry_run: false,
      });

      assert.deepEqual(answer.rows, [[1, "array", '{"b":[2]}', "text"]]);
    });

    await t.step("lists are bound as arrays, and only the server parses texts", async () => {
      const { answer } = await call(alice, {
        sql: "select (select count(*) from products where id = any($1)), $2::text[], " +
          "$3::int[][], $4::timestamp, $5::date, $6::boolean, $7::bytea",
        params: [
          [1, 2, 9999],
          ["a", 'x,"y\\', null, "NULL", ""],
          [[1, 2], [3, 4]],
          "2024-01-01 10:00:00.123456",
          "infinity",
          "yes",
          "\\x00ff",
        ],
        dry_run: false,
      });

      assert.deepEqual(answer.rows, [[
        2,
        '{a,"x,\\"y\\\\",NULL,"NULL",""}',
        "{{1,2},{3,4}}",
        "2024-01-01 10:00:00.123456",
        "infinity",
        true,
        "\\x00ff",
      ]]);
    });

    await t.step("a wrong number of parameters is refused", async () => {
      for (const params of [[], [1, 2]]) {
        const { answer } = await call(alice, { sql: "select $1::int", params, dry_run: false });
        assert.equal(answer.error?.code, "TOOL_ARGUMENTS_INVALID");
        assert.equal(answer.statement_class, "read");
      }
    });

    await t.step("the driver sends one statement: stacked statements never run", async () => {
      for (
        const stacked of ["select 1; commit; drop table public.products", "select 1; select 2"]
      ) {
        await assert.rejects(
          sql.begin("read only", (transaction) => sendOne(transaction, stacked)),
          /cannot insert multiple commands into a prepared statement/,
        );
      }
      const [kept] = await sql`select count(*)::int as count from public.products`;
      assert.equal(kept?.count, 1500);
    });

    await t.step("rows above the limit are omitted, and the answer reports it", async () => {
      const { answer } = await call(alice, { sql: "select * from products", dry_run: false });

      assert.equal(answer.row_count, 1_000);
      assert.equal(answer.is_truncated, true);
    });

    await t.step("an error names SQLSTATE, position, fragment and the nearest column", async () => {
      const statement = "select prise from products";
      const { answer, outcome } = await call(alice, { sql: statement, dry_run: false });

      assert.equal(answer.error?.code, "SQL_FAILED");
      assert.equal(answer.statement_class, "read");
      assert.equal(answer.error?.sqlstate, "42703");
      assert.equal(answer.error?.position, statement.indexOf("prise"));
      assert.match(answer.error?.fragment ?? "", /^prise/);
      assert.deepEqual(answer.error?.nearest_names?.slice(0, 1), ["price"]);
      const [recorded] = await sql`
        select error_message from public.mcp_executions where id = ${outcome.executionId}`;
      assert.match(recorded?.error_message, /^[^<]*prise[^<]*$/);
      assert.doesNotMatch(recorded?.error_message, /\.\.( |$)/);
    });

    await t.step("a position counts as JavaScript does, also after an emoji", async () => {
      const statement = "select '🐘🐘' as herd, prise from products";
      const { answer } = await call(alice, { sql: statement, dry_run: false });

      assert.equal(answer.error?.position, statement.indexOf("prise"));
      assert.match(answer.error?.fragment ?? "", /^prise/);
    });

    await t.step("a write names the permissions that it lacks", async () => {
      const statement = "update products set price = 0 where id = 1";
      const { answer, outcome } = await call(alice, { sql: statement, dry_run: false });

      assert.equal(answer.error?.code, "CONFIRMATION_REQUIRED");
      assert.deepEqual(answer.error?.missing, ["read_only: false", "confirmation_token"]);
      assert.equal(answer.statement_class, "write");
      assert.equal(outcome.isError, true);
      assert.equal(await price(fixture, 1), "1");
    });

    await t.step(
      "the next_call of a dry run writes once, in any spelling of the statement",
      async () => {
        const next = await dryRun(alice, "update products set price = 5 where id = 1");
        const { answer } = await call(alice, {
          ...next,
          sql: "/* again */ UPDATE products SET price=5 WHERE id = 1 ;",
        });
        const replayed = await call(alice, next);

        assert.equal(answer.affected_rows, 1);
        assert.equal(await price(fixture, 1), "5");
        assert.equal(replayed.answer.error?.code, "CONFIRMATION_INVALID");
        assert.equal(replayed.answer.statement_class, "write");
      },
    );

    await t.step(
      "a token is invalid for another statement, parameter, user or client",
      async () => {
        const next = await dryRun(alice, "update products set price = $1 where id = 2", {
          params: [7],
        });
        const tries: [ToolCaller, JsonObject][] = [
          [alice, { ...next, sql: "update products set price = $1 where id = 3" }],
          [alice, { ...next, params: [8] }],
          [bob, next],
          [{ ...alice, clientId: "another" }, next],
          [alice, { ...next, confirmation_token: `${next.confirmation_token}x` }],
        ];

        for (const [caller, args] of tries) {
          const { answer } = await call(caller, args);
          assert.ok(
            answer.error?.code === "CONFIRMATION_INVALID" ||
              answer.error?.code === "INSUFFICIENT_SCOPE",
            JSON.stringify(answer),
          );
        }
        assert.equal(await price(fixture, 2), "2");
        assert.equal((await call(alice, next)).answer.affected_rows, 1);
      },
    );

    await t.step("an expired token and a token of an older policy are refused", async () => {
      const expired = await dryRun(alice, "update products set price = 9 where id = 4");
      await sql`update public.sql_confirmations set expires_at = now() - interval '1 second'
        where used_at is null`;
      const older = await dryRun(alice, "update products set price = 9 where id = 5");
      await sql`update private.sql_policy set max_rows = max_rows`;

      for (const next of [expired, older]) {
        assert.equal((await call(alice, next)).answer.error?.code, "CONFIRMATION_INVALID");
      }
      assert.equal(await price(fixture, 4), "4");
    });

    await t.step("of nine concurrent calls with one token, one writes", async () => {
      const next = await dryRun(alice, "update products set price = price + 100 where id = 6");
      const outcomes = await Promise.all(Array.from({ length: 9 }, () => call(alice, next)));

      assert.equal(outcomes.filter(({ outcome }) => !outcome.isError).length, 1);
      assert.equal(await price(fixture, 6), "106");
    });

    await t.step("the same call after a worker's death gets the same answer", async () => {
      const next = await dryRun(alice, "update products set price = price + 100 where id = 8");
      const first = await call(alice, next, "task:7");
      const again = await call(alice, next, "task:7");

      assert.deepEqual(again.answer, first.answer);
      assert.equal(await price(fixture, 8), "108");
    });

    await t.step("tables and logs contain only the hash of a token", async () => {
      const next = await dryRun(alice, "update products set price = 1 where id = 9");
      const token = String(next.confirmation_token);
      await call(alice, next);

      const tables = await sql<{ name: string }[]>`
        select format('%I.%I', schemaname, tablename) as name from pg_tables
        where schemaname in ('public', 'private', 'pgmq', 'realtime', 'net', 'cron')`;
      for (const { name } of tables) {
        const [found] = await sql.unsafe(
          `select 1 from ${name} as row where row::text like $1 limit 1`,
          [`%${token}%`],
        );
        assert.equal(found, undefined, name);
      }
      assert.ok(fixture.logged.every((line) => !line.includes(token)));
      const hash = createHash("sha256").update(token).digest();
      const [kept] = await sql`select 1 from public.sql_confirmations where token_hash = ${hash}`;
      assert.ok(kept);
    });

    await t.step("a write beyond the limit of its dry run rolls back", async () => {
      const next = await dryRun(alice, "update products set price = 3 where id < 3 and id > 0");
      await sql`update public.sql_confirmations set max_rows = 1 where used_at is null`;
      const { answer } = await call(alice, next);

      assert.equal(answer.error?.code, "SQL_ROW_LIMIT_EXCEEDED");
      assert.equal(await price(fixture, 1), "5");
    });

    await t.step("sql:read by itself allows reads and no writes", async () => {
      const { answer } = await call(reader, { sql: "delete from products" });
      const read = await call(reader, { sql: "select count(*) from products", dry_run: false });

      assert.equal(answer.error?.code, "INSUFFICIENT_SCOPE");
      assert.equal(answer.statement_class, "write");
      assert.deepEqual(answer.error?.missing_scopes, ["sql:write"]);
      assert.deepEqual(read.answer.rows, [[1500]]);
    });

    await t.step("without a user nothing runs, but the answer has the class", async () => {
      const { answer, outcome } = await call(nobody(), { sql: "select 1", dry_run: false });

      assert.equal(outcome.errorCode, "CALLER_REQUIRED");
      assert.equal(answer.statement_class, "read");
    });

    await t.step("a client with elicitation confirms in a form", async () => {
      const write = callOf(EXECUTE_SQL, alice, {
        sql: "update products set price = 77 where id = 11",
        dry_run: false,
        read_only: false,
      });
      const capabilities = { elicitation: {} };
      const answerWith = async (action: string, state: string) =>
        await fixture.gateway.call({
          ...write,
          idempotencyKey: crypto.randomUUID(),
          input: {
            capabilities,
            responses: { confirmation: { action, content: { confirmed: true } } },
            state,
          },
        }, noAbort());
      const asked = await fixture.gateway.call({
        ...write,
        input: { capabilities },
      }, noAbort());
      assert.ok(asked.kind === "input_required");
      const state = asked.requestState ?? "";

      const declined = await answerWith("decline", state);
      assert.ok(declined.kind === "answered" && declined.isError);
      assert.equal(await price(fixture, 11), "11");
      const accepted = await answerWith("accept", state);
      assert.ok(accepted.kind === "answered" && !accepted.isError);
      assert.equal(await price(fixture, 11), "77");
    });

    await t.step("a definition waits for its owner's approval", async () => {
      const operator = await writer(fixture, "swarm:operate");
      const next = await dryRun(operator, "create table public.notes (id int)");
      const waiting = await call(operator, next);
      await fixture.sql`update public.sql_confirmations set is_approved = false, decided_at = now()
        where used_at is null and statement_class = 'ddl'`;
      const rejected = await call(operator, next);

      assert.equal(waiting.answer.error?.code, "APPROVAL_REQUIRED");
      assert.equal(waiting.answer.statement_class, "ddl");
      assert.equal(rejected.answer.error?.code, "CONFIRMATION_INVALID");
    });

    await t.step(
      "a write that could not succeed is not offered, and names the missing right",
      async () => {
        await sql.unsafe(CLOSED);
        for (const [statement, right] of CLOSED_WRITES) {
          const shown = await call(alice, { sql: statement });
          const asked = await fixture.gateway.call({
            ...callOf(EXECUTE_SQL, alice, { sql: statement, dry_run: false, read_only: false }),
            input: { capabilities: { elicitation: {} } },
          }, noAbort());

          assert.equal(
            shown.answer.error?.code,
            "SQL_RIGHT_MISSING",
            `${statement} ${JSON.stringify(shown.answer.error)}`,
          );
          assert.equal(shown.outcome.errorCode, "SQL_RIGHT_MISSING");
          assert.match(shown.answer.error?.message ?? "", right);
          assert.equal(shown.answer.confirmation_token, undefined);
          assert.equal(asked.kind, "answered", statement);
        }
        const [waiting] = await sql`
        select count(*)::int as count from public.sql_confirmations
        where statement like any (${`{${
          ["%cities%", "%drawers%", "%serials%"].join(",")
        }}`}::text[])`;
        assert.equal(waiting?.count, 0);
        for (const statement of OPEN_WRITES) {
          const { answer } = await call(alice, await dryRun(alice, statement));
          assert.equal(answer.error, undefined, `${statement} ${answer.error?.message}`);
          assert.equal(answer.affected_rows, 1, statement);
        }
      },
    );

    await t.step("rights that row level security does not limit are not usable", async () => {
      await sql.unsafe("grant all on public.todos to authenticated");
      const statements = [
        "truncate todos",
        "create table public.probe (id int references todos (id))",
        "create trigger t after insert on todos for each row execute function tsvector_update_trigger()",
      ];
      for (const statement of statements) {
        for (const args of [{}, { dry_run: false, read_only: false }]) {
          const { answer } = await call(alice, { sql: statement, ...args });
          assert.equal(answer.statement_class, "forbidden", statement);
        }
      }
      const deleted = await call(alice, await dryRun(alice, "delete from todos where done"));
      await sql.unsafe("revoke truncate, references, trigger on public.todos from authenticated");

      assert.equal(deleted.answer.affected_rows, 0);
      const [left] = await sql`select count(*)::int as count from public.todos`;
      assert.equal(left?.count, 2);
    });

    await t.step("a function of the project cannot replace a built-in one", async () => {
      await sql.unsafe(
        "create function public.lower(varchar) returns text language sql as 'select 1::text'",
      );
      const { answer } = await call(alice, {
        sql: "select lower(name::varchar) from products",
        dry_run: false,
      });
      await sql.unsafe("drop function public.lower(varchar)");

      assert.equal(answer.error?.code, "SQL_FORBIDDEN");
      assert.match(answer.error?.message ?? "", /function public\.lower/);
    });

    await t.step("a text that is not a statement is reported as such", async () => {
      const { answer } = await call(alice, { sql: "selec 1 fro products", dry_run: false });

      assert.equal(answer.error?.code, "SQL_INVALID");
    });

    await t.step("functional notation does not call functions of the project", async () => {
      await sql.unsafe(`create function public.everything(products) returns text
        language sql security definer as 'select string_agg(title, '','') from public.todos'`);
      const { answer } = await call(alice, {
        sql: "select p.everything from products p limit 1",
        dry_run: false,
      });
      await sql.unsafe("drop function public.everything(products)");

      assert.equal(answer.error?.code, "SQL_FORBIDDEN");
    });

    await t.step({
      name: "on this database no statement of the corpus but reads has an effect",
      ignore: await readSqlCorpus() === null,
      fn: () => corpusHasNoEffect(fixture, alice),
    });
  } finally {
    await fixture.stop();
  }
});

/**
 * Every statement is sent as a run, with permission to write and an invalid token. The corpus
 * is longer than the burst that the default rate limit allows.
 */
async function corpusHasNoEffect(fixture: ToolFixture, caller: ToolCaller): Promise<void> {
  await fixture.sql`
    insert into public.mcp_policies (mcp_name, user_id, calls_per_minute, burst_calls)
    values ('supabase', ${caller.userId}, 1000000, 10000)`;
  const before = await stateOf(fixture);
  const wrong: string[] = [];
  for (const { id, sql, kind } of await readSqlCorpus() ?? []) {
    const { answer, outcome } = await execute(fixture, caller, {
      sql,
      dry_run: false,
      read_only: false,
      confirmation_token: "of-no-dry-run",
      timeout: 2_000,
    });
    if (answer.statement_class !== kind) wrong.push(`${id} is ${answer.statement_class}`);
    if (kind !== "read" && !outcome.isError) wrong.push(`${id} ran: ${sql}`);
    // The tables of the shop have row level security, so it shows no plans.
    if (answer.error?.message?.startsWith("Cannot show the plan") && /^\s*explain/i.test(sql)) {
      continue;
    }
    if (kind === "read" && outcome.isError && !MAY_FAIL.test(answer.error?.sqlstate ?? "")) {
      wrong.push(`${id} is refused: ${sql} ${answer.error?.code} ${answer.error?.message}`);
    }
  }

  assert.deepEqual(wrong, []);
  assert.deepEqual(await stateOf(fixture), before);
}

/** Syntax, types, functions, privileges and relations that this version or this shop lacks. */
const MAY_FAIL = /^(42601|42883|42704|42P01|42703|0A000|42501)$/;

async function stateOf({ sql }: ToolFixture) {
  const [state] = await sql`
    select
      (select md5(string_agg(product::text, ',' order by id)) from public.products as product) as products,
      (select md5(string_agg(todo::text, ',' order by id)) from public.todos as todo) as todos,
      (select last_value from public.seq1) as sequence,
      (select count(*) from pg_class where relnamespace = 'public'::regnamespace) as relations,
      (select count(*) from pg_proc where pronamespace = 'public'::regnamespace) as functions,
      (select count(*) from pg_roles) as roles`;
  return { ...state };
}

async function writer(fixture: ToolFixture, ...scopes: string[]): Promise<ToolCaller> {
  const userId = await fixture.createUser();
  const granted = `{${["sql:write", ...scopes].join(",")}}`;
  await fixture.sql`select public.grant_scopes(${userId}, ${granted}::text[])`;
  return userCaller(userId);
}

async function execute(
  { gateway }: ToolFixture,
  caller: ToolCaller,
  args: JsonObject,
  idempotencyKey: string = crypto.randomUUID(),
): Promise<Called> {
  const request = callOf(EXECUTE_SQL, caller, args);
  const outcome = await answerOf(gateway, { ...request, idempotencyKey });
  assert.ok(outcome.structured, outcome.text);
  return { outcome, answer: statementAnswer.parse(outcome.structured) };
}

async function price({ sql }: ToolFixture, id: number): Promise<string | undefined> {
  const [row] = await sql<{ price: string }[]>`select price from public.products where id = ${id}`;
  return row?.price;
}
