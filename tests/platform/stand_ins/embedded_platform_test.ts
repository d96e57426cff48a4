import assert from "node:assert/strict";
import {
  loadPglite,
  loadPglitePgcrypto,
  loadPgliteUuidOssp,
  type Pglite,
  type PgliteExtension,
} from "../../../stack/deps.ts";
import { bundleExtension } from "../../../stack/platform/extension_bundle.ts";
import { platformExtensions, platformSql } from "../../../stack/platform/platform_files.ts";

/** Our extensions in PGlite's form: archives in `folder`. */
async function bundledExtensions(folder: string): Promise<Record<string, PgliteExtension>> {
  const extensions: Record<string, PgliteExtension> = {};
  for (const { name, files } of await platformExtensions()) {
    const path = `${folder}/${name}.tar.gz`;
    await Deno.writeFile(path, await bundleExtension(name, files));
    extensions[name] = {
      name,
      setup: (_pglite, emscriptenOpts) =>
        Promise.resolve({ emscriptenOpts, bundlePath: new URL(`file://${path}`) }),
    };
  }
  return extensions;
}

async function withPlatform(body: (database: Pglite) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "supaswarm_platform_" });
  const [{ PGlite }, { pgcrypto }, { uuid_ossp }] = await Promise.all([
    loadPglite(),
    loadPglitePgcrypto(),
    loadPgliteUuidOssp(),
  ]);
  const database = await PGlite.create({
    extensions: { pgcrypto, "uuid-ossp": uuid_ossp, ...await bundledExtensions(folder) },
  });
  try {
    for (const file of await platformSql()) await database.exec(file.sql);
    await body(database);
  } finally {
    await database.close();
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("the platform works on the embedded server too", (t) =>
  withPlatform(async (database) => {
    const rows = async (sql: string) => (await database.query<Record<string, unknown>>(sql)).rows;

    await t.step("migrations create the extensions", async () => {
      await database.exec(`
        create extension if not exists pgmq;
        create extension if not exists pg_net with schema extensions;
        create extension if not exists pg_cron;
        create extension if not exists supabase_vault;
      `);
    });

    await t.step("a message passes through a queue", async () => {
      await database.exec(`select pgmq.create('jobs'); select pgmq.send('jobs', '{"n": 1}');`);

      assert.deepEqual(await rows("select message, read_ct from pgmq.read('jobs', 30, 1)"), [
        { message: { n: 1 }, read_ct: 1 },
      ]);
    });

    await t.step("a secret, a job and a request are stored", async () => {
      await database.exec(`
        select vault.create_secret('value', 'name');
        select cron.schedule('tick', '15 seconds', 'select 1');
        select net.http_get('http://host', '{"a": "b c"}');
      `);

      assert.deepEqual(
        await rows(`
          select
            (select decrypted_secret from vault.decrypted_secrets) as secret,
            (select schedule from cron.job) as schedule,
            (select url from net.http_request_queue) as url`),
        [{ secret: "value", schedule: "15 seconds", url: "http://host/?a=b%20c" }],
      );
    });

    await t.step("a followed table publishes its changes", async () => {
      await database.exec(`
        create table public.items (id int primary key, size int);
        alter publication supabase_realtime add table public.items;
        insert into realtime.subscription (subscription_id, entity, claims)
        values (gen_random_uuid(), 'public.items', '{}');
        insert into public.items values (1, 2);
      `);

      assert.deepEqual(await rows("select operation, record from realtime.stack_changes"), [
        { operation: "INSERT", record: { id: 1, size: 2 } },
      ]);
    });

    await t.step(
      "storage rows cannot be deleted without the setting, not even by a superuser",
      async () => {
        await database.exec("insert into storage.buckets (id, name) values ('files', 'files')");

        await assert.rejects(database.exec("delete from storage.buckets"), { code: "42501" });
        await database.transaction(async (tx) => {
          await tx.exec(`
          set local storage.allow_delete_query = 'true';
          delete from storage.buckets;
        `);
        });
        assert.deepEqual(await rows("select from storage.buckets"), []);
      },
    );

    await t.step("API roles have no privileges, and platform schemas are closed", async () => {
      const denied = { code: "42501" };
      const asAnon = database.transaction(async (tx) => {
        await tx.exec("set local role anon; select * from public.items;");
      });

      await assert.rejects(asAnon, denied);
      await assert.rejects(
        database.exec("alter table realtime.messages enable row level security"),
        denied,
      );
    });
  }));
