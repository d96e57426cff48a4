import assert from "node:assert/strict";
import { removalSql } from "../../client/command/removal/removal_sql.ts";
import { fillNames, INSTALLED_SCHEMAS } from "../../client/command/release/fill_names.ts";
import { migrationText } from "../../client/command/release/migration_text.ts";
import { buildReleaseSql } from "../../scripts/package/build_release.ts";
import { markRelease } from "../../scripts/package/mark_names.ts";
import { TEST_DATABASE } from "../../scripts/test/test_database.ts";
import { createSql, type Sql } from "../../shared/platform/db/sql_client.ts";
import { openDatabase } from "../../stack/open_database.ts";
import { chosenNames } from "../command/installed_project.ts";
import { RELEASE } from "../postgres/next_release.ts";

/** A project that uses every extension of the platform. */
const OWN_OBJECTS = `
  create extension pgmq;
  set search_path = public, extensions;
  create extension pg_net with schema extensions;
  create extension pg_cron;
  create extension if not exists supabase_vault;
  create extension vector with schema extensions;

  select cron.schedule('nightly', '0 3 * * *', 'select 1'), cron.schedule('often', '15 seconds', 'select 2');
  select cron.alter_job(jobid, active => false) from cron.job where jobname = 'often';

  select pgmq.create('orders'), pgmq.create('invoices');
  select pgmq.send('orders', jsonb_build_object('n', n)) from generate_series(1, 3) as n;
  select pgmq.archive('orders', 1::bigint), count(*) from pgmq.read('orders', 3600, 1);

  select vault.create_secret('mine', 'STRIPE_KEY', 'of the project'), vault.create_secret('unnamed');

  create table public.items (id int primary key, embedding vector(3));
  create index on public.items using hnsw (embedding vector_cosine_ops);
  insert into public.items values (1, '[1,2,3]'), (2, null);

  select net.http_post('https://example.com/hook', '{"a": 1}'), net.http_get('https://example.com');
`;

/** What the extensions themselves write. */
const RECORDS = `
  insert into cron.job_run_details (jobid, username, status, return_message, start_time)
  select jobid, username, 'succeeded', '1 row', now() - interval '3 days' from cron.job;
  insert into net._http_response (id, status_code, content) values (1, 200, 'answer');
`;

/**
 * What a hosted project does at the end of each statement that names pg_cron, also if that finds
 * the extension: it drops and creates it. A statement without an effect is known only by its text.
 */
const AFTER_CREATE = `
  create function extensions.recreate_pg_cron() returns event_trigger language plpgsql as $$
  begin
    if not exists (select from pg_event_trigger_ddl_commands())
      and current_query() ~* 'create\\s+extension\\s+if\\s+not\\s+exists\\s+"?pg_cron'
    then
      drop extension pg_cron;
      create extension pg_cron;
    end if;
  end;
  $$;
  create event trigger recreate_pg_cron on ddl_command_end when tag in ('CREATE EXTENSION')
    execute function extensions.recreate_pg_cron();
`;

/** All rows of the extensions and of the project's own tables, and the identity of each object. */
async function ownObjects(sql: Sql): Promise<string[]> {
  const tables = await sql<{ name: string; id: string }[]>`
    select oid::regclass::text as name, concat('relation ', oid::regclass, ' ', oid) as id from pg_class
    where relkind = 'r' and relnamespace::regnamespace::text = any ('{cron,pgmq,net,public}')
      and (relnamespace <> 'public'::regnamespace or relname = 'items')`;
  const rows = await Promise.all(
    tables.map(({ name }) =>
      sql<{ line: string }[]>`select concat(${name}::text, ' ', found) as line from ${
        sql(name)
      } as found`
    ),
  );
  const others = await sql<{ line: string }[]>`
    select concat('extension ', extname, extversion, extnamespace::regnamespace, oid) as line from pg_extension
    union all
    select concat('secret ', id, name, description, decrypted_secret) from vault.decrypted_secrets`;
  return [...tables.map(({ id }) => id), ...[...rows, others].flat().map(({ line }) => line)]
    .sort();
}

const release = await buildReleaseSql();

for (const schema of INSTALLED_SCHEMAS) {
  Deno.test(`what a project has in the extensions is as before (in schema ${schema})`, async (t) => {
    const database = await openDatabase({ db: TEST_DATABASE, dataDir: null, log: () => {} });
    const admin = createSql(database.adminUrl, { maxConnections: 1, applicationName: "admin" });
    const sql = createSql(database.url, { maxConnections: 1, applicationName: "installation" });
    const names = chosenNames(schema);
    const run = (text: string) => sql.begin(async (tx) => void await tx.unsafe(text).simple());
    try {
      await sql.unsafe(OWN_OBJECTS).simple();
      await admin.unsafe(RECORDS + AFTER_CREATE).simple();
      const before = await ownObjects(sql);
      const assertKept = async () => {
        const after = new Set(await ownObjects(sql));
        assert.deepEqual(before.filter((line) => !after.has(line)), []);
      };

      await t.step("after a push", async () => {
        await run(migrationText(release.migrations, names));

        await assertKept();
      });

      await t.step("after an upgrade", async () => {
        await run(fillNames(markRelease(RELEASE, new Set(release.objects.names)), names));

        await assertKept();
      });

      await t.step("after a removal, which leaves nothing else", async () => {
        const manifest = {
          version: "0.1.0",
          ...names,
          migrations: [],
          files: {},
          starter: {},
          configPatch: null,
          configHash: "",
        };
        await sql.unsafe(removalSql(manifest, release.objects)).simple();

        assert.deepEqual(await ownObjects(sql), before);
      });
    } finally {
      await Promise.all([admin.end(), sql.end()]);
      await database.stop();
    }
  });
}
