import assert from "node:assert/strict";
import { startModelServer } from "../../scripts/models/model_server.ts";
import { type ScriptedRequest, scriptModel } from "../../scripts/models/scripted_agent.ts";
import { TEST_DATABASE } from "../../scripts/test/test_database.ts";
import type { JsonObject } from "../../shared/platform/values/json.ts";
import type { ToolCaller } from "../../shared/gateway/tool_contracts/tool_caller.ts";
import {
  type StatementAnswer,
  statementAnswer,
} from "../../shared/servers/supabase/statement_request.ts";
import { callSupabase, registerSupabase } from "../servers/supabase/supabase_call.ts";
import { openToolFixture, type ToolFixture, userCaller } from "../gateway/tools/tool_fixture.ts";

/** Tables of a project, with what its migrations may have left open or closed. */
const PROJECT = `
  create table public.shelves (id int primary key, label text);
  create table public.secrets (id int primary key, owner_id uuid not null default auth.uid(), pin text);
  alter table public.secrets enable row level security;
  create policy own on public.secrets to authenticated using (owner_id = auth.uid());
  insert into public.secrets (id, owner_id, pin) values (1, gen_random_uuid(), 'c4n4ry');
  create view public.pins with (security_invoker = true) as select pin from public.secrets;
  create table public.bookings (id int primary key, account uuid references auth.users (id));
  create function public.every_pin() returns text language sql immutable security definer
    as 'select string_agg(pin, '','') from public.secrets';
  grant select, insert, update, delete on public.shelves, public.secrets to authenticated;
  update private.sql_policy set read_functions = '{public.every_pin}';
`;

/** Definitions that operators run, in this order, and that each leave something to see. */
const RUNNABLE: readonly (readonly [statement: string, proof: string])[] = [
  [
    "create table notes (id bigserial primary key, user_id uuid default auth.uid(), body text)",
    "to_regclass('public.notes') is not null",
  ],
  [
    "alter table notes add column stars int not null default 3 check (stars between 1 and 5)",
    "exists (select from pg_attribute where attrelid = 'public.notes'::regclass and attname = 'stars')",
  ],
  [
    "create index notes_body_idx on notes (lower(body))",
    "to_regclass('public.notes_body_idx') is not null",
  ],
  ["create type mood as enum ('calm', 'angry')", "to_regtype('public.mood') is not null"],
  ["alter type mood add value 'glad'", "exists (select from pg_enum where enumlabel = 'glad')"],
  [
    "comment on column notes.body is 'What the user wrote'",
    "col_description('public.notes'::regclass, 3) = 'What the user wrote'",
  ],
  [
    "create domain short as text check (length(value) < 10)",
    "to_regtype('public.short') is not null",
  ],
  [
    "alter table notes alter column stars type bigint using stars * 2",
    "(select atttypid from pg_attribute where attrelid = 'public.notes'::regclass and attname = 'stars') = 'bigint'::regtype",
  ],
  [
    "create view starred with (security_invoker = true) as select body from notes where stars = 5",
    "to_regclass('public.starred') is not null",
  ],
  [
    "create table days (day date) partition by range (day)",
    "to_regclass('public.days') is not null",
  ],
  [
    "create table days_2026 partition of days for values from ('2026-01-01') to ('2027-01-01')",
    "(select relrowsecurity from pg_class where oid = 'public.days_2026'::regclass)",
  ],
  ["drop view starred", "to_regclass('public.starred') is null"],
  ["alter table notes rename to remarks", "to_regclass('public.remarks') is not null"],
  ["drop table public.bookings", "to_regclass('public.bookings') is null"],
];

/** Definitions that nobody runs here, and that everybody gets as a migration. */
const ONLY_PROPOSED = [
  "create table copied as select * from secrets",
  "select * into copied from secrets",
  "create materialized view seen as select * from secrets",
  "create view open_pins as select pin from secrets",
  "create view open_pins with (security_invoker = false) as select pin from secrets",
  "create or replace view pins as select pin from secrets",
  "create schema more",
  "alter schema public rename to gone",
  "drop schema public",
  "comment on schema public is 'mine'",
  "create table leak (pin text default public.every_pin())",
  "alter table shelves add column pin text generated always as (public.every_pin()) stored",
  "create index concurrently on shelves (label)",
  "drop table shelves cascade",
  "alter table shelves drop column label cascade",
  "create temp table brief (id int)",
  "create view twice with (security_invoker = true, security_invoker = false) as select pin from secrets",
  "create view other with (toast.security_invoker = true) as select pin from secrets",
  "alter table secrets inherit shelves",
  "alter table shelves attach partition secrets default",
  "create table alike (like secrets including all)",
  "create table child () inherits (secrets)",
  "alter table shelves alter column label type text using id::text",
  "alter table shelves alter column label type text using (shelves).id",
  "alter table shelves alter column label type text using secrets.pin",
  "refresh materialized view totals",
  "create view sampled with (security_invoker = true) as select * from shelves tablesample system (1)",
];

/** Definitions within the limits whose targets belong to the platform. */
const OF_THE_PLATFORM = [
  "drop table mcp_grants",
  "alter table public.tasks add column spy text",
  "create index spy on public.mcp_grants (user_id)",
  "comment on table tasks is 'mine'",
  "alter table mcp_grants rename to grants",
  "create or replace view public.queue_health with (security_invoker = true) as select 1 as id",
  "create table spy partition of public.task_steps default",
  "drop index public.sql_confirmations_user_id_idx",
  "drop type public.trace_step",
  "create statistics spy on user_id, id from public.mcp_grants",
];

/** Definitions that are refused whoever sends them. */
const FORBIDDEN = [
  "create table private.spy (id int)",
  "drop table auth.users",
  "alter table vault.secrets add column spy text",
  "alter table shelves disable row level security",
  "alter table shelves owner to authenticated",
  "alter table pins set (security_invoker = false)",
  "alter view pins reset (security_invoker)",
  "create function spy() returns int language sql security definer as 'select 1'",
  "create event trigger spy on ddl_command_end execute function spy()",
  "create policy spy on secrets using (true)",
  "create role spy",
  "alter role authenticated bypassrls",
  "grant all on secrets to anon",
  "alter default privileges grant all on tables to anon",
  "create extension dblink",
  "create trigger t after insert on shelves for each row execute function tsvector_update_trigger()",
  "create rule r as on select to shelves do instead select 1",
  "create publication p for all tables",
  "reindex table shelves",
  "vacuum shelves",
  "analyze shelves",
  "cluster shelves",
  "lock table shelves",
  "security label on table shelves is 'x'",
];

Deno.test("operators define tables, and everybody else proposes migrations", async (t) => {
  await using fixture = await openToolFixture();
  const { sql } = fixture;
  await sql.unsafe(PROJECT);
  await registerSupabase(fixture);
  const operator = await callerWith(fixture, ["sql:write", "swarm:operate"]);
  const writer = await callerWith(fixture, ["sql:write"]);
  const reader = userCaller(await fixture.createUser());
  const call = (caller: ToolCaller, args: JsonObject) => execute(fixture, caller, args);
  const approve = async (answer: StatementAnswer) =>
    await sql`update public.sql_confirmations set is_approved = true, decided_at = now()
      where id = ${answer.confirmation_id ?? null}`;
  const run = async (statement: string) => {
    const shown = await call(operator, { sql: statement });
    assert.ok(shown.next_call, JSON.stringify(shown));
    await approve(shown);
    return { shown, ran: await call(operator, shown.next_call as JsonObject) };
  };

  for (const [statement, proof] of RUNNABLE) {
    await t.step(`an operator runs ${statement}`, async () => {
      const { ran } = await run(statement);

      assert.equal(ran.error, undefined, JSON.stringify(ran.error));
      assert.equal((await sql.unsafe(`select ${proof} as is_true`))[0]?.is_true, true);
      const [act] = await sql`
        select operator_id, details ->> 'statement' as statement from private.operator_acts
        where act = 'schema.changed' order by id desc limit 1`;
      assert.deepEqual({ ...act }, { operator_id: operator.userId, statement });
    });
  }

  await t.step("a new table belongs to the migrations' role and hides its rows", async () => {
    const { shown, ran } = await run('create table "Über notes" (id int)');

    for (const { warnings = [] } of [shown, ran]) {
      assert.match(String(warnings), /Row level security is enabled/);
    }
    const [table] = await sql`
      select relrowsecurity, relowner = current_user::regrole as is_own from pg_class
      where oid = to_regclass('public."Über notes"')`;
    assert.deepEqual({ ...table }, { relrowsecurity: true, is_own: true });
  });

  await t.step("a table that exists keeps its row level security as it is", async () => {
    const { ran } = await run("create table if not exists shelves (id int)");
    const [table] = await sql`select relrowsecurity from pg_class where relname = 'shelves'`;

    assert.equal(ran.error, undefined);
    assert.equal(table?.relrowsecurity, false);
  });

  await t.step("the tools see a new table at once", async () => {
    await run("create table seen_at_once (id int, note text)");
    const { text } = await callSupabase(fixture, operator, "generate_schema", {});
    const read = await call(operator, { sql: "select note from seen_at_once", dry_run: false });
    const written = await call(operator, { sql: "insert into seen_at_once values (1)" });
    const [rights] = await sql`
      select bool_or(has_table_privilege('anon', id, name)) as of_anon,
        bool_or(has_table_privilege('authenticated', id, name))
          filter (where name in ('truncate', 'references', 'trigger')) as unlimited
      from unnest(array['select', 'insert', 'truncate', 'references', 'trigger']) as name,
        to_regclass('public.seen_at_once') as id`;

    assert.match(text, /seen_at_once/);
    assert.deepEqual(read.rows, []);
    assert.match(written.error?.message ?? "", /a policy of public\.seen_at_once for INSERT/);
    assert.deepEqual({ ...rights }, { of_anon: false, unlimited: false });
  });

  await t.step("plain English becomes a table that the next question knows", async () => {
    const requests: ScriptedRequest[] = [];
    const models = await startModelServer({
      agents: [scriptModel("definer", (request) => {
        requests.push(request);
        return {
          text: "```sql\ncreate table invoices (id bigserial primary key, total numeric)\n```",
        };
      })],
    });
    await sql`
      insert into public.llm_providers
        (name, display_name, api, base_url, default_model, requires_api_key)
      values ('scripted', 'Scripted', 'openai', ${`${models.url}/v1`}, 'definer', false)`;
    await sql`
      update public.mcp_tool_models set default_provider = 'scripted', default_model = null,
        supported_providers = '{scripted}'
      where mcp_name = 'supabase' and tool_name = 'generate_sql'`;
    const ask = async (prompt: string) =>
      (await callSupabase(fixture, operator, "generate_sql", { prompt })).answer;

    const generated = await ask("Make a table for invoices with a total");
    assert.equal(generated.statement_class, "ddl", JSON.stringify(generated));
    const { ran } = await run(String(generated.sql));
    assert.equal(ran.error, undefined);
    const again = await ask("Make a table for the totals of invoices");
    await models.stop();

    assert.match(JSON.stringify(again.error ?? again), /invoices already exists/);
    assert.match(requests.at(-1)?.messages.map(({ text }) => text).join("") ?? "", /invoices\(/);
  });

  await t.step("everybody else gets a migration to save, and nothing runs", async () => {
    const agent = { ...operator, isAgent: true };
    const client = { ...operator, clientId: "a-client" };
    for (const caller of [writer, reader, agent, client]) {
      const statement = "create table drafts (id int) -- mine";
      const shown = await call(caller, { sql: statement });
      const refused = await call(caller, { sql: statement, dry_run: false, read_only: false });

      if (shown.error?.code === "INSUFFICIENT_SCOPE") continue;
      assert.equal(shown.error, undefined, JSON.stringify(shown.error));
      assert.equal(shown.confirmation_token, undefined);
      assert.equal(shown.next_call, undefined);
      assert.match(
        shown.proposed_migration?.path ?? "",
        /^supabase\/migrations\/\d{14}_create_drafts\.sql$/,
      );
      assert.equal(refused.error?.code, "MIGRATION_REQUIRED");
      assert.deepEqual(
        refused.proposed_migration?.content,
        shown.proposed_migration?.content,
      );
    }
    const [drafts] = await sql`select to_regclass('public.drafts') as id`;
    assert.equal(drafts?.id, null);
    const waiting = await sql`
      select from public.sql_confirmations where user_id <> ${operator.userId}`;
    assert.equal(waiting.length, 0);
  });

  await t.step("a proposed migration runs as it is", async () => {
    const { proposed_migration: migration } = await call(reader, {
      sql: "create table from_proposal (id int) -- remark",
    });
    await sql.unsafe(migration?.content ?? "").simple();
    const [table] = await sql`select relrowsecurity from pg_class where relname = 'from_proposal'`;

    assert.equal(table?.relrowsecurity, true);
  });

  await t.step(
    "what reads rows or defines more than an operator may is only proposed",
    async () => {
      for (const statement of ONLY_PROPOSED) {
        const shown = await call(operator, { sql: statement });

        assert.equal(shown.statement_class, "ddl", statement);
        assert.equal(shown.next_call, undefined, statement);
        assert.ok(shown.proposed_migration, JSON.stringify(shown));
      }
    },
  );

  await t.step("nothing of the platform is offered", async () => {
    for (const statement of OF_THE_PLATFORM) {
      const shown = await call(operator, { sql: statement });

      assert.equal(shown.error?.code, "SQL_FORBIDDEN", `${statement} ${JSON.stringify(shown)}`);
      assert.equal(shown.next_call, undefined);
    }
  });

  await t.step(
    "what a definition would change of the platform unnamed is rolled back",
    async () => {
      // A view of the project that the platform's statements cannot know.
      const [before] = await sql`select private.protected_definitions('["public"]') as state`;
      await assert.rejects(
        sql.begin(async (transaction) => {
          await transaction.unsafe("alter table public.mcp_grants add column spy text");
          await transaction`select private.assert_spared(${before?.state}, '["public"]')`;
        }),
        /belongs to the platform/,
      );
      await assert.rejects(
        sql.begin(async (transaction) => {
          await transaction.unsafe(
            "create function public.spy() returns int language sql as 'select 1'",
          );
          await transaction`select private.assert_spared(${before?.state}, '["public"]')`;
        }),
        /belongs to the platform/,
      );
      await sql.begin(async (transaction) => {
        await transaction.unsafe("create table public.harmless (id int)");
        await transaction`select private.assert_spared(${before?.state}, '["public"]')`;
        await transaction.unsafe("drop table public.harmless");
      });
    },
  );

  await t.step("schemas, roles, functions, policies and triggers stay forbidden", async () => {
    for (const statement of FORBIDDEN) {
      const shown = await call(operator, { sql: statement });

      assert.equal(shown.statement_class, "forbidden", statement);
      assert.equal(shown.next_call, undefined);
      assert.equal(shown.proposed_migration, undefined);
    }
  });

  await t.step("what cannot succeed is not offered, and the error says why", async () => {
    const cases: readonly (readonly [string, RegExp])[] = [
      ["drop table missing", /"missing" does not exist/],
      ["create table secrets (id int)", /public\.secrets already exists/],
      ["alter table shelves rename to secrets", /public\.secrets already exists/],
      ["create table misspelled (id integr)", /type "integr" does not exist/],
      ["create table nowhere.x (id int)", /schema nowhere does not exist/],
    ];
    await sql`update private.sql_policy set exposed_schemas = '{public,nowhere}'`;
    for (const [statement, message] of cases) {
      const shown = await call(operator, { sql: statement });

      assert.equal(shown.error?.code, "SQL_FAILED", JSON.stringify(shown));
      assert.match(shown.error?.message ?? "", message);
      assert.equal(shown.confirmation_token, undefined);
    }
    assert.ok((await call(operator, { sql: "drop table if exists missing" })).next_call);
  });

  await t.step("a right that the migrations lack is named before anybody is asked", async () => {
    // On PGlite the migrations' login is a superuser, who lacks no right.
    if (TEST_DATABASE === "pglite" && await isSuperuser(fixture)) return;
    await sql.unsafe("create schema closed; revoke create on schema closed from current_user");
    await sql`update private.sql_policy set exposed_schemas = '{public,closed}'`;
    const shown = await call(operator, { sql: "create table closed.x (id int)" });

    assert.equal(shown.error?.code, "SQL_RIGHT_MISSING", JSON.stringify(shown));
    assert.match(shown.error?.message ?? "", /CREATE on schema closed/);
    assert.equal(shown.confirmation_token, undefined);
  });

  await t.step("a schema of the platform stays closed when statements may read it", async () => {
    await sql`update private.sql_policy set exposed_schemas = '{public,private,storage}'`;
    for (const statement of ["create table private.x (id int)", "drop table storage.objects"]) {
      const shown = await call(operator, { sql: statement });
      assert.equal(shown.next_call, undefined, statement);
      assert.match(String(shown.warnings), /belongs to the platform/);
    }
    await sql`update private.sql_policy set exposed_schemas = '{public}'`;
  });

  await t.step("the error of a definition quotes no value of a row", async () => {
    await sql`insert into public.secrets (id, owner_id, pin)
      values (2, gen_random_uuid(), '{"c4n4ry": c4n4ry')`;
    for (const type of ["int", "json", "date", "numeric(3)", "uuid", "inet"]) {
      const { ran } = await run(
        `alter table secrets add constraint fits check (pin::${type} is not null)`,
      );

      assert.match(ran.error?.sqlstate ?? "", /^22/, type);
      assert.doesNotMatch(JSON.stringify(ran), /c4n4ry/);
    }
    const { ran } = await run("alter table secrets add constraint one unique (owner_id, pin)");
    assert.equal(ran.error, undefined);
  });

  await t.step("an operator whose grant is withdrawn cannot run what was approved", async () => {
    const shown = await call(operator, { sql: "create table too_late (id int)" });
    await approve(shown);
    await sql`update public.mcp_grants set scopes = '{sql:read,sql:write}'
      where user_id = ${operator.userId}`;
    const refused = await call(operator, shown.next_call as JsonObject);

    assert.equal(refused.error?.code, "MIGRATION_REQUIRED");
    assert.equal((await sql`select to_regclass('public.too_late') as id`)[0]?.id, null);
  });
});

async function isSuperuser({ sql }: ToolFixture): Promise<boolean> {
  const [login] = await sql`select rolsuper from pg_roles where rolname = current_user`;
  return login?.rolsuper === true;
}

async function callerWith(fixture: ToolFixture, scopes: readonly string[]): Promise<ToolCaller> {
  const userId = await fixture.createUser();
  await fixture.sql`select public.grant_scopes(${userId}, ${`{${scopes.join(",")}}`}::text[])`;
  return userCaller(userId);
}

async function execute(
  fixture: ToolFixture,
  caller: ToolCaller,
  args: JsonObject,
): Promise<StatementAnswer> {
  const { answer, text } = await callSupabase(fixture, caller, "execute_sql", args);
  assert.ok(Object.keys(answer).length > 0, text);
  return statementAnswer.parse(answer);
}
