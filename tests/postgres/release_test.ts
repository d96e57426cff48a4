import assert from "node:assert/strict";
import { join } from "node:path";
import { PROJECT_ROOT } from "../../scripts/project_root.ts";
import { readCatalogue } from "../../scripts/release/read_catalogue.ts";
import { readSources } from "../../scripts/release/read_sources.ts";
import { SCHEMA_VERSION } from "../../shared/platform/db/schema_version.ts";
import { createSql, type Sql } from "../../shared/platform/db/sql_client.ts";
import { readMigrations } from "../../stack/migrations/read_migrations.ts";
import { type NativeServer, startNativeServer } from "./native_server.ts";

/** Applies each migration in a transaction of its own, as the CLI does. */
async function applyReleases(sql: Sql): Promise<void> {
  for (const migration of await readMigrations(PROJECT_ROOT)) {
    await sql.begin((tx) => tx.unsafe(migration.sql).simple());
  }
}

async function catalogueAfter(apply: (server: NativeServer) => Promise<unknown>) {
  await using server = await startNativeServer();
  await apply(server);
  return await readCatalogue(server.admin);
}

async function defaultPrivileges({ admin }: NativeServer) {
  return [
    ...await admin`
    select * from pg_default_acl where defaclnamespace in (0, 'public'::regnamespace) order by oid`,
  ];
}

/** As in projects that were created before tables had to be granted. */
const OPEN_DEFAULTS = `
  alter default privileges for role postgres in schema public grant all on tables to anon, authenticated, service_role;
  alter default privileges for role postgres in schema public grant all on sequences to anon, authenticated, service_role;
  alter default privileges for role postgres in schema public grant all on functions to anon, authenticated, service_role;
  alter default privileges for role postgres grant execute on functions to public;`;

Deno.test("releases", async (t) => {
  await using server = await startNativeServer();
  await applyReleases(server.sql);
  const released = await readCatalogue(server.admin);

  await t.step("all releases in order make the same database as the sources", async () => {
    const made = await catalogueAfter(async ({ sql }) => {
      const text = (await readSources()).map((source) => source.sql).join("\n");
      await sql.begin((tx) => tx.unsafe(text).simple());
    });

    assert.deepEqual(made, released);
  });

  await t.step("default privileges of the project give nobody a right, and stay", async () => {
    await using open = await startNativeServer();
    await open.admin.unsafe(OPEN_DEFAULTS);
    const before = await defaultPrivileges(open);

    await applyReleases(open.sql);

    assert.deepEqual(await defaultPrivileges(open), before);
    const isDefault = (line: string) => line.startsWith("default privileges");
    assert.deepEqual(
      (await readCatalogue(open.admin)).filter((line) => !isDefault(line)),
      released.filter((line) => !isDefault(line)),
    );
  });

  await t.step(
    "a project with the same names gets the list of all, and is left alone",
    async () => {
      await using taken = await startNativeServer();
      await taken.sql.unsafe(`
      create schema private;
      create table public.tasks (id int);
      create type public.usage_line as (total int);
      create function public.cancel_task(id bigint) returns void language sql as '';
      create extension pg_cron;
      select cron.schedule('supaswarm-tick', '* * * * *', 'select 1');
      create extension vector with schema public;
      create extension pgmq;
      select pgmq.create('agent_tasks');`).simple();
      const before = await readCatalogue(taken.admin);

      await assert.rejects(applyReleases(taken.sql), (error: Error) => {
        for (
          const clash of [
            "the schema private exists",
            "public.tasks exists",
            "public.usage_line exists",
            "the function public.cancel_task() exists",
            "the cron job supaswarm-tick exists",
            "the queue agent_tasks exists",
            "the extension vector is in schema public instead of extensions",
          ]
        ) assert.ok(error.message.includes(clash), `${clash}: ${error.message}`);
        return true;
      });

      assert.deepEqual(await readCatalogue(taken.admin), before);
    },
  );

  await t.step("a project whose cron has stopped is warned", async () => {
    await using stopped = await startNativeServer();
    await stopped.sql.unsafe(`
      create extension pg_cron;
      select cron.schedule('often', '*/5 * * * *', 'select 1');
    `).simple();
    await stopped.admin`
      insert into cron.job_run_details (jobid, username, start_time)
      select jobid, username, now() - interval '1 day' from cron.job`;
    const notices: string[] = [];
    await using cleanUp = new AsyncDisposableStack();
    const sql = createSql(stopped.cluster.url, {
      maxConnections: 1,
      applicationName: "installation",
      reportNotice: ({ message }) => notices.push(message),
    });
    cleanUp.defer(() => sql.end());

    await applyReleases(sql);

    assert.equal(notices.filter((text) => /^Cron seems to have stopped/.test(text)).length, 1);
  });

  await t.step("a second installation is refused with the version that is there", async () => {
    await assert.rejects(
      applyReleases(server.sql),
      new RegExp(`version ${SCHEMA_VERSION.replaceAll(".", "\\.")} is installed`),
    );
  });

  await t.step("the database and the code have the same version", async () => {
    const [row] = await server.sql`
      select private.schema_version() as current, array_agg(version) as installed from private.releases`;

    assert.equal(row?.current, SCHEMA_VERSION);
    assert.ok(row?.installed.includes(SCHEMA_VERSION));
  });

  await t.step("no migration changes default privileges", async () => {
    for (const { path, sql } of await readMigrations(PROJECT_ROOT)) {
      assert.doesNotMatch(sql, /alter default privileges/i, join(PROJECT_ROOT, path));
    }
  });
});
