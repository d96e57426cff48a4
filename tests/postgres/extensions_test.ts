import assert from "node:assert/strict";
import type { Sql } from "../../shared/platform/db/sql_client.ts";
import { asRole, startNativeServer } from "./native_server.ts";

const DENIED = { code: "42501" };

Deno.test("postgres creates every extension that the migrations name", async () => {
  await using server = await startNativeServer();

  await server.sql.unsafe(`
    create extension if not exists pgmq;
    create extension if not exists pg_net with schema extensions;
    create extension if not exists pg_cron;
    create extension if not exists supabase_vault;
    create extension if not exists vector with schema extensions;
    create extension if not exists pgtap with schema extensions;
    create extension if not exists plpgsql_check with schema extensions;
  `).simple();

  const versions = await server.sql`
    select extname || ' ' || extversion as version from pg_extension
    where extname in ('pgmq', 'pg_net', 'pg_cron', 'supabase_vault') order by 1`;
  assert.deepEqual(versions.map((row) => row.version), [
    "pg_cron 1.6",
    "pg_net 0.20.4",
    "pgmq 1.5.1",
    "supabase_vault 0.3.1",
  ]);
});

Deno.test("search_path is empty after create extension pgmq until its transaction ends", async () => {
  await using server = await startNativeServer();
  const { sql } = server;
  const path = async (on: Pick<Sql, "unsafe">) =>
    (await on.unsafe("select current_setting('search_path') as path"))[0]?.path;

  await sql.begin(async (tx) => {
    await tx`create extension pgmq`;

    assert.equal(await path(tx), '""');
    await assert.rejects(tx.savepoint((nested) => nested`create table unqualified (id int)`), {
      code: "3F000",
    });
    await tx`create table public.qualified (id int)`;
  });

  assert.equal(await path(sql), '"\\$user", public, extensions');
});

Deno.test("pgmq behaves like 1.5.1", async (t) => {
  await using server = await startNativeServer();
  const { sql } = server;
  await sql`create extension pgmq`;
  await sql`select pgmq.create('jobs')`;
  await sql`select pgmq.create('jobs')`;

  await t.step("postgres owns queues and their tables", async () => {
    const [row] = await sql`
      select tableowner from pg_tables where schemaname = 'pgmq' and tablename = 'q_jobs'`;

    assert.equal(row?.tableowner, "postgres");
  });

  await t.step("a delayed message is not visible before its time", async () => {
    await sql`select pgmq.send('jobs', '{"n": 1}', 3600::int)`;

    assert.deepEqual([...await sql`select * from pgmq.read('jobs', 10, 5)`], []);
    await sql`select pgmq.purge_queue('jobs')`;
  });

  await t.step("read() leases the oldest messages and counts the reads", async () => {
    await sql`select pgmq.send_batch('jobs', array['{"n":1}', '{"n":2}', '{"n":3}']::jsonb[])`;

    const first = await sql`select message, read_ct from pgmq.read('jobs', 60, 2) order by msg_id`;
    const second = await sql`select message, read_ct from pgmq.read('jobs', 60, 2)`;

    assert.deepEqual(first.map((row) => row.message.n), [1, 2]);
    assert.deepEqual(second.map((row) => [row.message.n, row.read_ct]), [[3, 1]]);
  });

  await t.step("two readers never get the same message", async () => {
    await sql`select pgmq.purge_queue('jobs')`;
    await sql`select pgmq.send('jobs', jsonb_build_object('n', n)) from generate_series(1, 200) n`;

    const reads = await Promise.all(
      Array.from({ length: 40 }, () => sql`select msg_id from pgmq.read('jobs', 60, 10)`),
    );
    const ids = reads.flatMap((rows) => rows.map((row) => row.msg_id));

    assert.equal(ids.length, new Set(ids).size);
  });

  await t.step("read_with_poll(…, 0) returns nothing", async () => {
    await sql`select pgmq.purge_queue('jobs')`;
    await sql`select pgmq.send('jobs', '{"n": 1}')`;

    assert.deepEqual([...await sql`select * from pgmq.read_with_poll('jobs', 0, 5, 0)`], []);
    assert.equal((await sql`select * from pgmq.read_with_poll('jobs', 0, 5, 1)`).length, 1);
  });

  await t.step("read(…, conditional => null) returns all", async () => {
    const all = await sql`select * from pgmq.read('jobs', 0, 5, conditional => null)`;

    assert.equal(all.length, 1);
  });

  await t.step("archive() and delete() return the removed messages", async () => {
    await sql`select pgmq.purge_queue('jobs')`;
    const [sent] = await sql`select pgmq.send('jobs', '{"n": 1}') as id`;
    const id = sent?.id;

    const [archived] = await sql`
      select pgmq.archive('jobs', ${id}::bigint) as first, pgmq.archive('jobs', ${id}::bigint) as again`;
    const kept = await sql`select message from pgmq.a_jobs where msg_id = ${id}`;
    const [deleted] = await sql`select pgmq.delete('jobs', 999999) as done`;

    assert.deepEqual({ ...archived }, { first: true, again: false });
    assert.deepEqual(kept[0]?.message, { n: 1 });
    assert.equal(deleted?.done, false);
  });

  await t.step("set_vt() moves the lease, and returns nothing for an absent message", async () => {
    const [sent] = await sql`select pgmq.send('jobs', '{"n": 9}', 3600::int) as id`;

    const moved = await sql`select msg_id from pgmq.set_vt('jobs', ${sent?.id}::bigint, 0)`;
    const absent = await sql`select msg_id from pgmq.set_vt('jobs', 999999, 0)`;
    const popped = await sql`select message from pgmq.pop('jobs')`;

    assert.equal(moved.length, 1);
    assert.equal(absent.length, 0);
    assert.deepEqual(popped[0]?.message, { n: 9 });
  });

  await t.step("metrics() counts all sent messages", async () => {
    const [metrics] = await sql`
      select queue_length, queue_visible_length, total_messages from pgmq.metrics('jobs')`;

    assert.equal(metrics?.queue_length, "0");
    assert.ok(Number(metrics?.total_messages) > 200);
  });

  await t.step("names are checked, and partitions need pg_partman", async () => {
    await assert.rejects(sql`select pgmq.create('a;b')`, /invalid characters/);
    await assert.rejects(sql`select pgmq.create(repeat('x', 48))`, /too long/);
    await assert.rejects(sql`select pgmq.create_partitioned('p')`, /pg_partman is required/);
  });

  await t.step("an untyped delay is ambiguous, as in the original", async () => {
    await assert.rejects(sql.unsafe("select pgmq.send('jobs', '{}', null)"), /not unique/);
  });

  await t.step("drop_queue() succeeds for absent queues too", async () => {
    const [row] =
      await sql`select pgmq.drop_queue('jobs') as first, pgmq.drop_queue('jobs') as again`;

    assert.deepEqual({ ...row }, { first: true, again: true });
    await assert.rejects(sql`select pgmq.read('jobs', 1, 1)`, { code: "42P01" });
  });

  await t.step("API roles cannot reach queues", async () => {
    await assert.rejects(
      asRole(sql, "service_role", (tx) => tx`select pgmq.send('jobs', '{}')`),
      DENIED,
    );
  });
});

Deno.test("supabase_vault behaves like 0.3.1", async (t) => {
  await using server = await startNativeServer();
  const { sql } = server;
  const value = "a secret, longer than one block of the cipher: ünï";
  await sql`select vault.create_secret(${value}, 'openai')`;

  await t.step("a value is stored encrypted and read decrypted", async () => {
    const [row] = await sql`
      select s.secret, d.decrypted_secret
      from vault.secrets s join vault.decrypted_secrets d using (id) where s.name = 'openai'`;

    assert.equal(row?.decrypted_secret, value);
    const stored = new TextDecoder().decode(Uint8Array.fromBase64(row?.secret));
    assert.ok(!row?.secret.includes("secret") && !stored.includes("secret"));
  });

  await t.step("equal values are stored differently", async () => {
    await sql`select vault.create_secret(${value}, 'other')`;

    const rows = await sql`select distinct secret from vault.secrets`;

    assert.equal(rows.length, 2);
  });

  await t.step("update_secret() changes only its arguments", async () => {
    await sql`
      select vault.update_secret(id, new_secret => 'changed') from vault.secrets where name = 'other'`;

    const [row] = await sql`
      select name, decrypted_secret from vault.decrypted_secrets where name = 'other'`;

    assert.deepEqual({ ...row }, { name: "other", decrypted_secret: "changed" });
  });

  await t.step("a name is unique, and direct writes are refused", async () => {
    await assert.rejects(sql`select vault.create_secret('x', 'openai')`, { code: "23505" });
    await assert.rejects(sql`insert into vault.secrets (secret) values ('x')`, DENIED);
    await assert.rejects(sql`update vault.secrets set secret = 'x'`, DENIED);
  });

  await t.step("service_role reads and writes secrets, and users do not", async () => {
    const [row] = await asRole(sql, "service_role", async (tx) => {
      await tx`select vault.create_secret('by service', 'mine')`;
      return await tx`select decrypted_secret from vault.decrypted_secrets where name = 'mine'`;
    });
    assert.equal(row?.decrypted_secret, "by service");
    for (const role of ["anon", "authenticated"]) {
      await assert.rejects(
        asRole(sql, role, (tx) => tx`select name from vault.decrypted_secrets`),
        DENIED,
      );
    }
  });

  await t.step("a tampered secret is an error, not another value", async () => {
    await server.admin`
      update vault.secrets set nonce = uuid_send(gen_random_uuid()) where name = 'other'`;

    await assert.rejects(
      sql`select decrypted_secret from vault.decrypted_secrets where name = 'other'`,
      /invalid ciphertext/,
    );
  });
});
