import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { SwarmError } from "../../shared/platform/errors/swarm_error.ts";
import { applyMigrations } from "../../stack/migrations/apply_migrations.ts";
import { testsSharing } from "../shared_fixture.ts";
import { type DatabaseFixture, openDatabaseFixture } from "./database_fixture.ts";

const databaseTest = testsSharing(openDatabaseFixture);

/** Registers a test with a project that has these files under `supabase/`, and a database for it. */
function projectTest(
  claim: string,
  files: Readonly<Record<string, string>>,
  test: (project: { root: string; fixture: DatabaseFixture }) => Promise<void>,
): void {
  databaseTest(claim, async (fixture) => {
    const root = await Deno.makeTempDir();
    await Deno.mkdir(join(root, "supabase", "migrations"), { recursive: true });
    for (const [path, text] of Object.entries(files)) {
      const file = join(root, "supabase", path);
      await Deno.mkdir(dirname(file), { recursive: true });
      await Deno.writeTextFile(file, text);
    }
    try {
      await test({ root, fixture });
    } finally {
      await Deno.remove(root, { recursive: true });
      await fixture.sql.unsafe(`
        drop schema if exists supabase_migrations cascade;
        drop table if exists public.first, public.good, public.bad;
      `);
    }
  });
}

const TWO_FILES = {
  "migrations/20260102_second.sql": "insert into first values (2);",
  "migrations/20260101_first.sql": "create table first (i int);\ninsert into first values (1);",
  "migrations/README.md": "not a migration",
  "seed.sql": "insert into first values (3);",
};

projectTest(
  "applyMigrations() applies files in order, then the seed, and records them",
  TWO_FILES,
  async ({ root, fixture }) => {
    const report = await applyMigrations(fixture.database, root);

    assert.deepEqual(report, {
      applied: ["20260101", "20260102"],
      edited: [],
      seeded: [join("supabase", "seed.sql")],
    });
    assert.deepEqual([...await fixture.sql`select i from public.first`], [
      { i: 1 },
      { i: 2 },
      { i: 3 },
    ]);
    const history = await fixture.sql`
      select version, name, to_jsonb(statements) as statements
      from supabase_migrations.schema_migrations order by version
    `;
    assert.deepEqual([...history], [
      {
        version: "20260101",
        name: "first",
        statements: ["create table first (i int)", "insert into first values (1)"],
      },
      { version: "20260102", name: "second", statements: ["insert into first values (2)"] },
    ]);
  },
);

projectTest(
  "applyMigrations() applies nothing twice and names files that were edited afterwards",
  TWO_FILES,
  async ({ root, fixture }) => {
    await applyMigrations(fixture.database, root);
    const second = join("supabase", "migrations", "20260102_second.sql");
    await Deno.writeTextFile(join(root, second), "insert into first values (20);");
    await Deno.writeTextFile(join(root, "supabase", "seed.sql"), "insert into first values (30);");

    const report = await applyMigrations(fixture.database, root);

    assert.deepEqual(report, { applied: [], edited: [second], seeded: [] });
    const [row] = await fixture.sql`select count(*)::int as count from public.first`;
    assert.deepEqual(row, { count: 3 });
  },
);

projectTest("applyMigrations() applies the seed files that config.toml names, in their order", {
  "migrations/1_first.sql": "create table first (i int);",
  "config.toml": '[db.seed]\nsql_paths = ["./last.sql", "./seeds/*.sql", "./missing.sql"]\n',
  "last.sql": "insert into first values (1);",
  "seeds/b.sql": "insert into first select max(i) * 3 from first;",
  "seeds/a.sql": "insert into first select max(i) + 4 from first;",
  "seed.sql": "insert into first values (100);",
}, async ({ root, fixture }) => {
  const { seeded } = await applyMigrations(fixture.database, root);

  assert.deepEqual(
    seeded,
    ["last.sql", "seeds/a.sql", "seeds/b.sql"].map((path) => join("supabase", path)),
  );
  const [row] = await fixture
    .sql`select to_jsonb(array_agg(i order by i)) as all from public.first`;
  assert.deepEqual(row, { all: [1, 5, 15] });
});

projectTest("applyMigrations() rolls back a failing file completely and names its line", {
  "migrations/1_good.sql": "create table good (i int);",
  "migrations/2_bad.sql": [
    "-- Comment",
    "create table bad (i int);",
    "",
    "create function f() returns int language sql as $$ select 1; $$;",
    "select i,",
    "  missing",
    "from bad;",
  ].join("\n"),
}, async ({ root, fixture }) => {
  const error = await applyMigrations(fixture.database, root).then(() => null, (e) => e);

  assert.ok(error instanceof SwarmError);
  const path = join("supabase", "migrations", "2_bad.sql");
  assert.equal(error.message, `Cannot apply ${path}, line 6: column "missing" does not exist`);
  const [state] = await fixture.sql`
      select to_regclass('public.good') is not null as good,
        to_regclass('public.bad') is not null as bad,
        (select string_agg(version, ',') from supabase_migrations.schema_migrations) as versions
    `;
  assert.deepEqual(state, { good: true, bad: false, versions: "1" });
});

projectTest(
  "applyMigrations() refuses a database with a migration that the project lacks",
  TWO_FILES,
  async ({ root, fixture }) => {
    await applyMigrations(fixture.database, root);
    await Deno.remove(join(root, "supabase", "migrations", "20260102_second.sql"));

    await assert.rejects(
      applyMigrations(fixture.database, root),
      /the database has 20260102, which supabase\/migrations does not have/,
    );
  },
);
