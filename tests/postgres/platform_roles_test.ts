import assert from "node:assert/strict";
import { asRole, startNativeServer } from "./native_server.ts";

const DENIED = { code: "42501" };
const API_ROLES = ["anon", "authenticated", "service_role"];

Deno.test("roles and grants equal those of a hosted project", async (t) => {
  await using server = await startNativeServer();
  const { sql } = server;
  await sql.unsafe(`
    create table public.notes (id bigint generated always as identity primary key, body text);
    create function public.hello() returns text language sql as $$ select 'hello' $$;
    create function public.private_hello() returns text language sql as $$ select 'hello' $$;
    revoke execute on function public.private_hello() from public;
  `).simple();

  await t.step("postgres bypasses RLS and creates roles, but is not a superuser", async () => {
    const [role] = await sql`
      select rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolreplication
      from pg_roles where rolname = current_user`;

    assert.deepEqual({ ...role }, {
      rolsuper: false,
      rolbypassrls: true,
      rolcreaterole: true,
      rolcreatedb: true,
      rolreplication: true,
    });
    await sql`create schema private`;
    await assert.rejects(sql`alter system set work_mem = '1MB'`, DENIED);
    await assert.rejects(sql`create role other superuser`, DENIED);
  });

  for (const role of API_ROLES) {
    await t.step(`${role} has no access to a new table or function`, async () => {
      await assert.rejects(asRole(sql, role, (tx) => tx`select * from public.notes`), DENIED);
      await assert.rejects(
        asRole(sql, role, (tx) => tx`insert into public.notes (body) values ('x')`),
        DENIED,
      );
      await assert.rejects(asRole(sql, role, (tx) => tx`select public.private_hello()`), DENIED);
    });
  }

  await t.step("everyone can execute a new function until it is revoked from PUBLIC", async () => {
    const [row] = await asRole(sql, "anon", (tx) => tx`select public.hello() as answer`);

    assert.equal(row?.answer, "hello");
  });

  await t.step("the authenticator can become every API role and nothing more", async () => {
    for (const role of API_ROLES) {
      const [row] = await sql`select pg_has_role('authenticator', ${role}, 'member') as may`;
      assert.equal(row?.may, true);
    }
    const [row] = await sql`select pg_has_role('authenticator', 'postgres', 'member') as may`;
    assert.equal(row?.may, false);
  });

  await t.step("set role to an owner of the platform's schemas is denied", async () => {
    for (
      const role of [
        "supabase_admin",
        "supabase_auth_admin",
        "supabase_storage_admin",
        "supabase_realtime_admin",
      ]
    ) {
      await assert.rejects(asRole(sql, role, () => Promise.resolve()), DENIED);
    }
  });

  await t.step("a server runs in UTC with logical decoding", async () => {
    const [row] = await sql`
      select current_setting('timezone') as timezone, current_setting('wal_level') as wal_level,
        current_setting('search_path') as search_path`;

    assert.deepEqual({ ...row }, {
      timezone: "UTC",
      wal_level: "logical",
      // A hosted project has the backslash too.
      search_path: '"\\$user", public, extensions',
    });
  });
});

Deno.test("the platform's schemas are closed to migrations", async (t) => {
  await using server = await startNativeServer();
  const { sql } = server;

  await t.step("policies and triggers are allowed on their tables", async () => {
    await sql.unsafe(`
      create policy "own files" on storage.objects for select to authenticated
        using (owner_id = (select auth.uid())::text);
      create policy "own topics" on realtime.messages for select to authenticated
        using (realtime.topic() = 'mine');
      drop policy "own topics" on realtime.messages;
      create function public.on_user() returns trigger language plpgsql as $$
        begin return new; end $$;
      create trigger on_user after insert on auth.users
        for each row execute function public.on_user();
      create table public.profiles (id uuid primary key references auth.users (id));
    `).simple();
  });

  for (
    const statement of [
      "alter table realtime.messages enable row level security",
      "alter table auth.users add column nickname text",
      "create index on storage.objects (owner)",
      "drop table auth.audit_log_entries",
      "drop function auth.uid() cascade",
    ]
  ) {
    await t.step(`refused: ${statement}`, async () => {
      await assert.rejects(sql.unsafe(statement), DENIED);
    });
  }

  await t.step("no object can be created in them", async () => {
    for (const schema of ["auth", "storage", "realtime"]) {
      await assert.rejects(sql.unsafe(`create table ${schema}.mine (id int)`), DENIED);
    }
  });

  await t.step("the caller is read from both forms of claims", async () => {
    const id = "6d7a2a6e-52d5-4d8c-8b8d-7a1d1a5c9a10";
    const claims = JSON.stringify({ sub: id, role: "authenticated", email: "a@b.c" });
    const [none] = await sql`select auth.uid() as id, auth.jwt() as jwt`;
    const [both] = await sql.begin(async (tx) => {
      await tx`select set_config('request.jwt.claims', ${claims}, true)`;
      return await tx`select auth.uid() as id, auth.role() as role, auth.email() as email`;
    });

    assert.deepEqual({ ...none }, { id: null, jwt: null });
    assert.deepEqual({ ...both }, { id, role: "authenticated", email: "a@b.c" });
  });

  await t.step("storage rows cannot be deleted without the setting", async () => {
    await sql`insert into storage.buckets (id, name) values ('files', 'files')`;
    await assert.rejects(sql`delete from storage.buckets where id = 'files'`, DENIED);
    await sql.begin(async (tx) => {
      await tx`select set_config('storage.allow_delete_query', 'true', true)`;
      await tx`delete from storage.buckets where id = 'files'`;
    });
    await assert.rejects(server.admin`delete from storage.objects`, DENIED);
    assert.deepEqual([...await sql`select from storage.buckets where id = 'files'`], []);
  });

  await t.step("a path has a folder, a file name and an extension", async () => {
    const [row] = await sql`
      select storage.foldername('a/b/c.tar.gz') as folder, storage.filename('a/b/c.tar.gz') as file,
        storage.extension('a/b/c.tar.gz') as extension, storage.foldername('c') as root`;

    assert.equal(row?.file, "c.tar.gz");
    assert.equal(row?.extension, "gz");
    assert.equal(row?.folder, "{a,b}");
    assert.equal(row?.root, "{}");
  });
});
