import assert from "node:assert/strict";
import { join } from "node:path";
import type { Manifest } from "../../client/command/project/manifest.ts";
import { removalSql } from "../../client/command/removal/removal_sql.ts";
import { migrationText } from "../../client/command/release/migration_text.ts";
import { buildReleaseSql } from "../../scripts/package/build_release.ts";
import { PROJECT_ROOT } from "../../scripts/project_root.ts";
import { createSql, type Sql } from "../../shared/platform/db/sql_client.ts";
import { clashingSql } from "../command/clashing_sql.ts";
import { chosenNames, installedPgtap, writeProject } from "../command/installed_project.ts";
import { readContents } from "../command/read_contents.ts";
import { pgtapFiles, runPgtapFiles } from "../platform/pgtap/pgtap.ts";
import {
  type NativeServer,
  startMigratedServer,
  startNativeServer,
  startProjectServer,
} from "./native_server.ts";

const release = await buildReleaseSql();

async function clashingMigration(): Promise<string> {
  await using server = await startMigratedServer();
  return await clashingSql(server.sql);
}

const manifestFor = (schema: "supaswarm" | "public"): Manifest => ({
  version: "0.1.0",
  ...chosenNames(schema),
  migrations: ["supabase/migrations/20260102000000_supaswarm.sql"],
  files: {},
  starter: {},
  configPatch: null,
  configHash: "",
});

/** One connection, as a session of the CLI has. */
function openOne({ cluster }: NativeServer): Sql & AsyncDisposable {
  const sql = createSql(cluster.url, { maxConnections: 1, applicationName: "installation" });
  return Object.assign(sql, { [Symbol.asyncDispose]: () => sql.end() });
}

const run = async (sql: Sql, text: string) => void await sql.unsafe(text).simple();

Deno.test("beside objects with all of its names, the platform's SQL passes its tests", async (t) => {
  const root = await Deno.makeTempDir({ prefix: "supaswarm-project-" });
  const seed = await Deno.readTextFile(join(PROJECT_ROOT, "supabase/seed.sql"));
  await writeProject(root, release, await clashingMigration(), seed);
  await using server = await startProjectServer(root);
  const sql = createSql(server.cluster.url, { maxConnections: 1, applicationName: "pgtap" });
  const names = new Set(release.objects.names);
  try {
    const files = (await pgtapFiles()).map((file) => installedPgtap(file, names));
    await runPgtapFiles(t, sql, files);
    await t.step("the project's own rows are as before", async () => {
      const [row] = await sql`select (select sum(mine) from public.tasks) as tasks,
        (select sum(mine) from private.settings) as settings, public.cancel_task(7) as answer`;
      assert.deepEqual({ ...row }, { tasks: "1", settings: "1", answer: 7 });
    });
  } finally {
    await sql.end();
    await Deno.remove(root, { recursive: true });
  }
});

Deno.test("a removal leaves the database as it was before the installation", async (t) => {
  const clashing = await clashingMigration();

  for (const schema of ["supaswarm", "public"] as const) {
    await t.step(`from schema ${schema}`, async () => {
      await using server = await startNativeServer();
      await using sql = openOne(server);
      await run(sql, schema === "public" ? "create table public.own (id int)" : clashing);
      const before = await readContents(sql);
      await run(sql, migrationText(release.migrations, chosenNames(schema)));

      await run(sql, removalSql(manifestFor(schema), release.objects));

      const after = await readContents(sql);
      assert.deepEqual(after.filter((line) => !before.includes(line)), []);
      assert.deepEqual(before.filter((line) => !after.includes(line)), []);
    });
    await t.step(`from schema ${schema}, but what the project uses by now`, async () => {
      await using server = await startNativeServer();
      await using sql = openOne(server);
      await run(sql, migrationText(release.migrations, chosenNames(schema)));
      await run(
        sql,
        `select cron.schedule('own', '0 3 * * *', $$select net.http_get('https://example.com')$$)`,
      );

      await run(sql, removalSql(manifestFor(schema), release.objects));

      const [left] = await sql`select string_agg(jobname, ' ') as jobs,
        to_regprocedure('net.http_get(text, jsonb, jsonb, integer)') is not null as has_net,
        to_regnamespace('pgmq') is null as has_no_queues from cron.job`;
      assert.deepEqual({ ...left }, { jobs: "own", has_net: true, has_no_queues: true });
    });
    await t.step(
      `from schema ${schema}, with the row triggers of the project's tables`,
      async () => {
        await using server = await startNativeServer();
        await using sql = openOne(server);
        await run(sql, migrationText(release.migrations, chosenNames(schema)));
        await run(
          sql,
          `create table public.orders (id int primary key);
        create function public.own() returns trigger language plpgsql as 'begin return new; end';
        create trigger own before insert on public.orders for each row execute function public.own();
        insert into ${schema}.agents (name, slug, system_prompt) values ('a', 'a', 'x');
        insert into ${schema}.row_triggers (name, table_name, events, agent)
        values ('orders', 'orders', '{insert,update}', 'a');
        insert into public.orders values (1);`,
        );

        await run(sql, removalSql(manifestFor(schema), release.objects));

        await run(sql, "insert into public.orders values (2)");
        const left =
          await sql`select tgname from pg_trigger where tgrelid = 'public.orders'::regclass`;
        assert.deepEqual(left.map(({ tgname }) => tgname), ["own"]);
      },
    );
    await t.step(`from schema ${schema}, unless the project uses the platform`, async () => {
      await using server = await startNativeServer();
      await using sql = openOne(server);
      await run(sql, migrationText(release.migrations, chosenNames(schema)));
      await run(
        sql,
        `create view public.own_jobs with (security_invoker) as select id from ${schema}.tasks`,
      );
      const before = await readContents(sql);

      await assert.rejects(
        run(sql, removalSql(manifestFor(schema), release.objects)),
        /depend on it: .*view public\.own_jobs/,
      );

      await run(sql, "rollback");
      assert.deepEqual(await readContents(sql), before);
    });
  }
});
