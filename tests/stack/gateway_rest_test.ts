import assert from "node:assert/strict";
import type { Sql } from "../../shared/platform/db/sql_client.ts";
import { waitFor } from "../../scripts/wait_for.ts";
import { testsSharing } from "../shared_fixture.ts";
import { startGatewayFixture } from "./gateway_fixture.ts";

const NOTES_SQL = `
  create table public.notes (
    id bigint generated always as identity primary key,
    owner_id uuid not null default auth.uid(),
    title text not null unique check (length(title) < 20),
    body jsonb,
    tags text[],
    price numeric(10, 2),
    at timestamptz not null default '2026-01-31 10:00:00+00'
  );
  alter table public.notes enable row level security;
  create policy "own" on public.notes to authenticated
    using (owner_id = (select auth.uid())) with check (owner_id = (select auth.uid()));
  grant select, insert, update, delete on public.notes to authenticated;
  grant all on public.notes to service_role;
  create table public.comments (
    id bigint generated always as identity primary key,
    note_id bigint not null references public.notes (id),
    text text not null
  );
  grant all on public.comments to service_role;
  create table public.ungranted (id int);
  create function public.refuse() returns void language plpgsql as $$
  begin
    raise sqlstate 'PT409' using
      message = 'Cannot cancel the task', detail = 'TASK_NOT_CANCELLABLE', hint = 'Look at it first.';
  end $$;
  create function public.fail() returns void language plpgsql as $$
  begin raise exception 'plain' using detail = 'why', hint = 'what to do'; end $$;
  create function public.describe(
    p_data jsonb, p_id uuid default null, p_name text default 'nobody'
  ) returns jsonb language sql as $$
    select jsonb_build_object('type', jsonb_typeof(p_data), 'data', p_data, 'id', p_id, 'name', p_name)
  $$;
  create function public.many(p_count int) returns table (n int) language sql as $$
    select generate_series(1, p_count)
  $$;
  create function public.me() returns jsonb language sql as $$
    select jsonb_build_object('role', current_user, 'uid', auth.uid(), 'email', auth.jwt() ->> 'email')
  $$;
`;

const RELATIVES_SQL = `
  create table public.authors (id int primary key, name text);
  create table public.books (
    id int primary key, title text, author_id int references public.authors (id)
  );
  create table public.drafts (
    id int primary key, author_id int references public.authors (id), is_open boolean
  );
  create unique index on public.drafts (author_id) where is_open;
  create table public.profiles (author_id int primary key references public.authors (id), bio text);
  create table public.desks (
    id int primary key, author_id int not null unique references public.authors (id)
  );
  create table public.badges (id int primary key, author_id int references public.authors (id));
  create unique index on public.badges (author_id);
  create table public.tags (id int primary key);
  create table public.book_tags (
    book_id int references public.books (id), tag_id int references public.tags (id),
    primary key (book_id, tag_id)
  );
  grant select on all tables in schema public to service_role;
  insert into public.authors values (1, 'ann'), (2, 'bob');
  insert into public.books values (1, 'x', 1), (2, 'y', 1);
  insert into public.drafts values (1, 1, true), (2, 1, false), (3, 1, false);
  insert into public.profiles values (1, 'writes');
  insert into public.desks values (1, 1);
  insert into public.badges values (1, 1);
  insert into public.tags values (1), (2);
  insert into public.book_tags values (1, 1), (1, 2);
`;

/** A gateway, and what its first request did. */
async function startRest() {
  const fixture = await startGatewayFixture(NOTES_SQL + RELATIVES_SQL);
  const grantsBefore = await readGrants(fixture.sql);
  const { status } = await fixture.client().from("ungranted").select();
  return { ...fixture, first: { status, grantsBefore, grants: await readGrants(fixture.sql) } };
}

const restTest = testsSharing(startRest);

restTest("the first REST request changes no grant", ({ first }) => {
  assert.equal(first.status, 401);
  assert.deepEqual(first.grants, first.grantsBefore);
});

restTest("REST embeds to-many relations as arrays", async (fixture, t) => {
  const embedded = async (table: string, relation: string) => {
    const { data, error } = await fixture.service().from(table).select(relation).order("id");
    assert.equal(error, null);
    return data;
  };

  for (
    const [relation, first, second] of [
      ["books(title)", { books: [{ title: "x" }, { title: "y" }] }, { books: [] }],
      // A partial unique index does not cover all rows.
      ["drafts(id)", { drafts: [{ id: 1 }, { id: 2 }, { id: 3 }] }, { drafts: [] }],
      // Only constraints count, not indexes.
      ["badges(id)", { badges: [{ id: 1 }] }, { badges: [] }],
    ] as const
  ) {
    await t.step(`authors with ${relation}`, async () => {
      assert.deepEqual(await embedded("authors", relation), [first, second]);
    });
  }

  await t.step("through a table of pairs", async () => {
    assert.deepEqual(await embedded("books", "tags(id)"), [
      { tags: [{ id: 1 }, { id: 2 }] },
      { tags: [] },
    ]);
  });

  await t.step("to-one relations as objects", async () => {
    assert.deepEqual(await embedded("books", "authors(name)"), [
      { authors: { name: "ann" } },
      { authors: { name: "ann" } },
    ]);
    assert.deepEqual(await embedded("authors", "profiles(bio), desks(id)"), [
      { profiles: { bio: "writes" }, desks: { id: 1 } },
      { profiles: null, desks: null },
    ]);
  });
});

restTest("rows are read and written as on a hosted project", async (fixture, t) => {
  const service = fixture.service();
  const ann = await fixture.signedUp();
  const bob = await fixture.signedUp();

  await t.step("a user's row belongs only to that user", async () => {
    const inserted = await ann.client.from("notes").insert({ title: "mine" }).select().single();
    const stolen = await bob.client.from("notes").insert({ title: "x", owner_id: ann.id });

    assert.equal(inserted.data?.owner_id, ann.id);
    assert.equal(inserted.data?.at, "2026-01-31T10:00:00+00:00");
    assert.deepEqual((await bob.client.from("notes").select()).data, []);
    assert.equal(stolen.error?.code, "42501");
    assert.equal(stolen.status, 403);
  });

  await t.step("the publishable key by itself can do nothing without a grant", async () => {
    const anon = fixture.client();

    assert.equal((await anon.from("notes").select()).error?.code, "42501");
    assert.equal((await anon.from("notes").insert({ title: "anon" })).status, 401);
    assert.equal((await anon.schema("auth").from("users").select()).error?.code, "PGRST106");
  });

  await t.step("functions run as their caller", async () => {
    const me = (await ann.client.rpc("me")).data;

    assert.equal(me.role, "authenticated");
    assert.equal(me.uid, ann.id);
    assert.match(me.email, /@example\.com$/);
    assert.equal((await service.rpc("me")).data.role, "service_role");
  });

  await t.step("JSON values keep their type, in rows and in arguments", async () => {
    const values = [{ a: [1, null] }, [true], "text", '{"a":1}', 5, true];
    for (const value of values) {
      const row = { title: crypto.randomUUID().slice(0, 8), body: value, owner_id: ann.id };
      const { data } = await service.from("notes").insert(row).select("body").single();
      const described = (await service.rpc("describe", { p_data: value })).data;

      assert.deepEqual(data?.body, value);
      assert.deepEqual(described.data, value);
      assert.equal(described.type, Array.isArray(value) ? "array" : typeof value);
    }
  });

  await t.step("arguments can be omitted, and sets are returned as arrays", async () => {
    const id = crypto.randomUUID();
    const { data } = await service.rpc("describe", { p_data: {}, p_id: id });

    assert.deepEqual(data, { type: "object", data: {}, id, name: "nobody" });
    assert.deepEqual((await service.rpc("many", { p_count: 2 })).data, [{ n: 1 }, { n: 2 }]);
  });

  await t.step("upsert, single, embedding, or and count work", async () => {
    const row = { title: "up", owner_id: ann.id, price: 1.5, tags: ["a", "b,c"] };
    await service.from("notes").upsert(row, { onConflict: "title" });
    const again = await service.from("notes").upsert({ ...row, price: 2.5 }, {
      onConflict: "title",
    })
      .select("id, price, tags").single();
    await service.from("comments").insert({ note_id: again.data?.id, text: "hello" });
    const embedded = await service.from("notes").select("title, comments(text)").eq("title", "up");
    const either = await service.from("notes").select("title", { count: "exact" })
      .or("title.eq.up,and(title.eq.mine,price.is.null)").order("title");

    assert.equal(again.data?.price, 2.5);
    assert.deepEqual(again.data?.tags, ["a", "b,c"]);
    assert.deepEqual(embedded.data, [{ title: "up", comments: [{ text: "hello" }] }]);
    assert.deepEqual(either.data?.map((note) => note.title), ["mine", "up"]);
    assert.equal(either.count, 2);
    assert.equal(
      (await service.from("notes").select().eq("title", "none").single()).error?.code,
      "PGRST116",
    );
  });

  await t.step("text filters find values that look like something else", async () => {
    for (const title of ["1.0", "true", "null", "007"]) {
      await service.from("notes").insert({ title, owner_id: ann.id });
      const { data } = await service.from("notes").select("title").eq("title", title);
      assert.deepEqual(data, [{ title }]);
    }
    const { data } = await service.from("notes").select("title").in("title", [
      "1.0",
      "true",
      "a,b",
    ]);
    assert.equal(data?.length, 2);
  });

  await t.step("a whole table cannot be deleted by accident", async () => {
    assert.equal((await service.from("comments").delete()).error?.code, "21000");
  });
});

restTest("errors match PostgREST's", async (fixture, t) => {
  const service = fixture.service();

  await t.step("a function sets its own status with PTxyz", async () => {
    const { error, status } = await service.rpc("refuse");

    assert.equal(status, 409);
    assert.deepEqual({ ...error }, {
      code: "PT409",
      message: "Cannot cancel the task",
      details: "TASK_NOT_CANCELLABLE",
      hint: "Look at it first.",
    });
  });

  await t.step("a plain raise is a 400 with detail and hint", async () => {
    const { error, status } = await service.rpc("fail");

    assert.equal(status, 400);
    assert.equal(error?.code, "P0001");
    assert.equal(error?.details, "why");
    assert.equal(error?.hint, "what to do");
  });

  await t.step("constraints keep their codes", async () => {
    const owner_id = crypto.randomUUID();
    const long = await service.from("notes").insert({ title: "x".repeat(20), owner_id });
    const orphan = await service.from("comments").insert({ note_id: 0, text: "x" });

    assert.deepEqual([long.status, long.error?.code], [400, "23514"]);
    assert.deepEqual([orphan.status, orphan.error?.code], [409, "23503"]);
    assert.equal((await service.rpc("nope")).error?.code, "PGRST202");
  });

  await t.step("no refusal is printed or logged as a failure", () => {
    assert.ok(!fixture.events.includes("request_failed"));
  });
});

restTest("new tables and functions are served without a restart", async (fixture) => {
  const service = fixture.service();
  assert.equal((await service.from("later").select()).error?.code, "PGRST205");

  await fixture.sql.unsafe(`
    create table public.later (id int);
    grant select on public.later to service_role;
    create function public.later_count() returns bigint language sql as 'select count(*) from public.later';
  `);

  await waitFor(async () => (await service.from("later").select()).status === 200, {
    what: "the new table",
  });
  assert.equal((await service.rpc("later_count")).data, 0);
});

/** All grants of the database. */
async function readGrants(sql: Sql) {
  const relations = await sql`
    select oid::regclass::text as name, relacl::text from pg_class order by 1`;
  const schemas = await sql`select nspname, nspacl::text from pg_namespace order by 1`;
  const defaults = await sql`
    select defaclrole::regrole::text as role, defaclnamespace, defaclobjtype, defaclacl::text
    from pg_default_acl order by 1, 2, 3`;
  return { relations: [...relations], schemas: [...schemas], defaults: [...defaults] };
}
