import assert from "node:assert/strict";
import { PROJECT_ROOT } from "../../scripts/project_root.ts";
import { startPlatform } from "../../scripts/platform/start_platform.ts";
import type { Sql } from "../../shared/platform/db/sql_client.ts";
import { startMigratedServer } from "./native_server.ts";

async function start(db: string, onLog: (line: unknown) => void = () => {}): Promise<void> {
  const stack = await startPlatform({
    db,
    port: 0,
    dataDir: null,
    projectRoot: PROJECT_ROOT,
    watch: false,
    onLog,
    env: { DEMO_KEY: "demo" },
  });
  await stack.stop();
}

/**
 * Everything that a start writes: settings, secrets, addresses of servers, migrations, tables,
 * jobs.
 */
async function contents(sql: Sql): Promise<unknown> {
  return await sql`
    select
      (select jsonb_agg(setting order by key) from private.settings as setting) as settings,
      (select jsonb_agg(secret order by id) from vault.secrets as secret) as secrets,
      (select jsonb_agg(provider order by id) from public.llm_providers as provider) as providers,
      (select jsonb_agg(embedder order by name) from public.embedders as embedder) as embedders,
      (select count(*) from supabase_migrations.schema_migrations) as migrations,
      (select jsonb_agg(relname order by oid) from pg_class) as relations,
      (select count(*) from net.http_request_queue) as requests`;
}

Deno.test("--db refuses a Supabase project's database before it writes anything", async (t) => {
  await using server = await startMigratedServer();

  const refused = async (says: RegExp) => {
    const before = await contents(server.admin);
    await assert.rejects(start(server.cluster.url), (error: Error & { code?: string }) => {
      assert.equal(error.code, "DATABASE_REFUSED");
      assert.match(error.message, says);
      assert.match(error.message, /Nothing was written$/);
      return true;
    });
    assert.deepEqual(await contents(server.admin), before);
  };

  await t.step("it detects the address that the project's functions announced", async () => {
    await server.sql`select private.configure_project_url('https://abcd.supabase.co')`;
    await refused(/its functions are at https:\/\/abcd\.supabase\.co/);
    await server.sql`select private.configure_project_url('http://127.0.0.1:54321')`;
  });

  await t.step("it detects extensions that are the platform's own", async () => {
    const [own] = await server.admin<{ comment: string }[]>`
      select obj_description(oid, 'pg_extension') as comment
      from pg_extension where extname = 'pg_net'`;
    await server.admin`comment on extension pg_net is 'Async HTTP'`;
    await refused(/pg_net is the platform's own/);
    await server.admin.unsafe(`comment on extension pg_net is '${own?.comment}'`);
  });

  await t.step("it detects supautils", async () => {
    await server.admin`alter database postgres set supautils.reserved_roles = 'x'`;
    await refused(/the server loads supautils/);
    await server.admin`alter database postgres reset supautils.reserved_roles`;
  });

  await t.step("it accepts a server that was prepared for it", async () => {
    await start(server.cluster.url);

    const [row] = await server.sql`select value from private.settings where key = 'project_url'`;
    assert.match(row?.value, /^http:\/\/127\.0\.0\.1:\d+$/);
  });
});
