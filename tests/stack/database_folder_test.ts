import assert from "node:assert/strict";
import { join } from "node:path";
import { createSql } from "../../shared/platform/db/sql_client.ts";
import { SwarmError } from "../../shared/platform/errors/swarm_error.ts";
import { readHolder } from "../../stack/database/folder_lock.ts";
import { openDatabase } from "../../stack/open_database.ts";
import { waitFor } from "../../scripts/wait_for.ts";
import { testsSharing } from "../shared_fixture.ts";
import { openDatabaseFixture } from "./database_fixture.ts";

const databaseTest = testsSharing(openDatabaseFixture);
const quiet = { db: "pglite", log: () => {} };

async function rejection(promise: Promise<unknown>): Promise<SwarmError> {
  const error = await promise.then(() => null, (reason) => reason);
  assert.ok(error instanceof SwarmError, `expected a SwarmError, got ${error}`);
  return error;
}

databaseTest(
  "a data folder in use is refused with the id of the process that uses it",
  async (fixture) => {
    const error = await rejection(openDatabase({ ...quiet, dataDir: fixture.dataDir }));

    assert.equal(error.code, "DATABASE_UNAVAILABLE");
    assert.match(error.message, new RegExp(`in use by process ${Deno.pid}$`));
  },
);

Deno.test("a data folder keeps its data between starts", async () => {
  const dataDir = await Deno.makeTempDir();
  const first = await openDatabase({ ...quiet, dataDir });
  const sql = createSql(first.url, { maxConnections: 1, applicationName: "folder-test" });
  await sql`create table kept as select 'here' as what`;
  await sql.end();
  await first.stop();

  await using fixture = await openDatabaseFixture({ dataDir });

  assert.deepEqual([...await fixture.sql`select what from kept`], [{ what: "here" }]);
});

Deno.test("a damaged data folder is refused with one line that names it", async () => {
  const dataDir = await Deno.makeTempDir();
  const first = await openDatabase({ ...quiet, dataDir });
  await first.stop();
  await Deno.truncate(join(dataDir, "pglite", "global", "pg_control"), 100);

  const error = await rejection(openDatabase({ ...quiet, dataDir }));

  await Deno.remove(dataDir, { recursive: true });
  assert.equal(error.code, "DATABASE_UNAVAILABLE");
  assert.ok(error.message.startsWith(`Cannot open the database in ${join(dataDir, "pglite")}: `));
  assert.doesNotMatch(error.message, /\n/);
});

Deno.test("an ephemeral database leaves no folder and no process behind", async () => {
  const database = await openDatabase({ ...quiet, dataDir: null });
  const foldersBefore = await ownEphemeralFolders();

  await database.stop();
  await database.stop();

  assert.equal(foldersBefore.length, 1);
  assert.deepEqual(await ownEphemeralFolders(), []);
  await assert.rejects(Deno.connect({ port: Number(new URL(database.url).port) }));
});

/** Temporary folders of this process's stacks; other processes may have their own. */
async function ownEphemeralFolders(): Promise<string[]> {
  const parent = Deno.env.get("TMPDIR") ?? "/tmp";
  const own: string[] = [];
  for await (const { name } of Deno.readDir(parent)) {
    if (!name.startsWith("supaswarm-ephemeral-")) continue;
    const holder = await readHolder(join(parent, name, "pglite.lock"));
    if (holder?.ownerPid === Deno.pid) own.push(name);
  }
  return own;
}

Deno.test("openDatabase() refuses an unknown database", async () => {
  const error = await rejection(openDatabase({ ...quiet, db: "mysql://x", dataDir: "" }));

  assert.equal(error.code, "CONFIG_INVALID");
});

Deno.test("a start ends the busy database process that a killed stack left behind", async () => {
  const dataDir = await Deno.makeTempDir();
  const stack = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", new URL("./busy_stack.ts", import.meta.url).href, dataDir],
    stdout: "piped",
  }).spawn();
  const reader = stack.stdout.getReader();
  await reader.read();
  await reader.cancel();
  stack.kill("SIGKILL");
  await stack.status;

  await using fixture = await openDatabaseFixture({ dataDir });

  const [row] = await waitFor(() => fixture.sql`select count(*)::int as count from kept`);
  assert.deepEqual(row, { count: 1 }, "it did not wait for the statement of a day");
});

databaseTest(
  "openDatabase() accepts the URL of a prepared server and refuses an unreachable one",
  async (fixture) => {
    const { url } = fixture.database;

    const database = await openDatabase({ ...quiet, db: url, dataDir: "" });
    await database.stop();
    const error = await rejection(
      openDatabase({ ...quiet, db: "postgresql://u:secret@127.0.0.1:9/x", dataDir: "" }),
    );

    assert.deepEqual([database.kind, database.url], ["url", url]);
    assert.equal(error.code, "DATABASE_UNAVAILABLE");
    assert.match(error.message, /^Cannot use the database at 127\.0\.0\.1:9\/x: /);
    assert.doesNotMatch(error.message, /secret/);
  },
);

databaseTest("openDatabase() names what an unprepared server lacks", async ({ sql, database }) => {
  await sql`alter schema realtime rename to renamed`;

  const error = await rejection(openDatabase({ ...quiet, db: database.url, dataDir: "" }));

  await sql`alter schema renamed rename to realtime`;

  assert.equal(error.code, "CONFIG_INVALID");
  assert.match(error.message, /it lacks schema realtime$/);
});
