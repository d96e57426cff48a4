import assert from "node:assert/strict";
import { SUPABASE_CLI } from "../../client/command/supabase_cli.ts";
import { join } from "node:path";
import { applyMigrations } from "../../stack/migrations/apply_migrations.ts";
import { openDatabaseFixture } from "./database_fixture.ts";

Deno.test("the Supabase CLI finds nothing pending after applyMigrations(), and can push more", async () => {
  const root = await Deno.makeTempDir();
  const migrations = join(root, "supabase", "migrations");
  await Deno.mkdir(migrations, { recursive: true });
  await Deno.writeTextFile(join(root, "supabase", "config.toml"), 'project_id = "cli-test"\n');
  await Deno.writeTextFile(join(migrations, "20260101000000_first.sql"), "create table a (i int);");
  await using fixture = await openDatabaseFixture();
  const { url } = fixture.database;
  await applyMigrations(fixture.database, root);

  const nothing = await supabase(root, ["db", "push", "--dry-run", "--yes", `--remote=${url}`]);
  await Deno.writeTextFile(
    join(migrations, "20260102000000_second.sql"),
    "create table b (i int);",
  );
  const pushed = await supabase(root, ["db", "push", "--yes", `--remote=${url}`]);
  const list = await supabase(root, ["migration", "list", `--remote=${url}`]);
  const report = await applyMigrations(fixture.database, root);

  await Deno.remove(root, { recursive: true });
  assert.match(nothing, /up to date/i);
  assert.match(pushed, /20260102000000_second\.sql/);
  for (const version of ["20260101000000", "20260102000000"]) {
    assert.match(list, new RegExp(`${version}\\W+${version}`));
  }
  assert.deepEqual(report, { applied: [], edited: [], seeded: [] });
});

/** Runs the real CLI and returns its output. */
async function supabase(cwd: string, args: readonly string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command("npx", {
    args: ["-y", SUPABASE_CLI, ...args],
    cwd,
    env: { SUPABASE_TELEMETRY_DISABLED: "1", DO_NOT_TRACK: "1" },
  }).output();
  const output = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  assert.ok(success, output);
  return output;
}
