import assert from "node:assert/strict";
import { join } from "node:path";
import { copyFolder } from "../../scripts/files/copy_folder.ts";
import { PROJECT_ROOT } from "../../scripts/project_root.ts";
import { readCatalogue } from "../../scripts/release/read_catalogue.ts";
import { waitFor } from "../../scripts/wait_for.ts";
import { createSql, type Sql } from "../../shared/platform/db/sql_client.ts";
import { SCHEMA_VERSION } from "../../shared/platform/db/schema_version.ts";
import { Swarm } from "../engine/worker/swarm_fixture.ts";
import { NEXT, RELEASE } from "./next_release.ts";
import { type NativeServer, startMigratedServer } from "./native_server.ts";
import { printFigures } from "./race_fixture.ts";

/** Tasks that wait for their time while the release is applied. */
const DELAYED = 2_000;
const EACH_SIDE = 15;

/** Applies a migration in one transaction, as the CLI does. */
const apply = (sql: Sql, migration: string) =>
  sql.begin(async (tx) => void await tx.unsafe(migration).simple());

Deno.test("an upgrade under load is applied as a whole or not at all, and loses no task", async (t) => {
  await using cleanUp = new AsyncDisposableStack();
  const server = cleanUp.use(await startMigratedServer());
  const swarm = Swarm.attach(server.cluster.url);
  cleanUp.defer(() => swarm.close());
  await swarm.addAgents();
  await swarm.sql`
    select from generate_series(1, ${DELAYED}::int) as n, lateral private.create_task(
      'test-planner', jsonb_build_object('n', n), p_run_after => now() + interval '1 day')`;
  const next = cleanUp.use(await openNextRelease());
  const old = [1, 2].map(() => cleanUp.use(startWorker(PROJECT_ROOT, server)));
  const load = cleanUp.use(startLoad(server));
  const completed = async (release: string) => {
    const [row] = await swarm.sql`
      select count(*)::int from public.tasks where status = 'completed' and output = ${
      swarm.sql.json(release)
    }`;
    return Number(row?.count);
  };
  const moreOf = async (release: string) => {
    const before = await completed(release);
    await waitFor(async () => await completed(release) >= before + EACH_SIDE, {
      what: `tasks of release ${release}`,
    });
  };
  await Promise.all(old.map(({ printed }) => printed("ready")));
  await moreOf(SCHEMA_VERSION);
  const before = await readCatalogue(server.admin);
  const young = [1, 2].map(() => cleanUp.use(startWorker(next.folder, server)));
  const assertUntouched = async () => {
    assert.deepEqual(await readCatalogue(server.admin), before);
    await moreOf(SCHEMA_VERSION);
  };

  await t.step("workers of the next release refuse the older database", async () => {
    await Promise.all(young.map(({ printed }) => printed("refused")));
  });
  await t.step("a failure in the middle leaves nothing behind", async () => {
    await assert.rejects(apply(server.sql, `${RELEASE}\nselect 1 / 0;`), /division by zero/);

    await assertUntouched();
  });
  await t.step("beside a long transaction it gives up, and the workers go on", async () => {
    const long = createSql(server.cluster.url, { maxConnections: 1, applicationName: "report" });
    const read = Promise.withResolvers<void>();
    const end = Promise.withResolvers<void>();
    const report = long.begin(async (tx) => {
      await tx`select count(*) from public.tasks`;
      read.resolve();
      await end.promise;
    });
    try {
      await read.promise;
      await assert.rejects(apply(server.sql, RELEASE), /lock timeout/);

      await assertUntouched();
    } finally {
      end.resolve();
      await report;
      await long.end();
    }
  });
  await t.step("then it is applied, and workers of both releases finish tasks", async () => {
    await waitFor(() => apply(server.sql, RELEASE).then(() => true, isLockTimeout), {
      what: "the upgrade",
    });

    await Promise.all(young.map(({ printed }) => printed("ready")));
    await Promise.all([moreOf(SCHEMA_VERSION), moreOf(NEXT)]);
    await assert.rejects(apply(server.sql, RELEASE), /Cannot upgrade to 0\.2\.0/);
  });
  await t.step("no task is lost, failed, or ended twice", async () => {
    const created = await load.stop();
    const counts = async () => {
      const [row] = await swarm.sql`
        select count(*) filter (where status = 'completed')::int as completed,
          count(*) filter (where status = 'pending' and run_after is not null)::int as delayed,
          count(*)::int as total
        from public.tasks`;
      return { ...row };
    };
    await waitFor(async () => (await counts())["completed"] === created, { what: "all tasks" });

    assert.deepEqual(await counts(), {
      completed: created,
      delayed: DELAYED,
      total: created + DELAYED,
    });
    const twice = await swarm.sql`
      select task_id from public.task_events where type = 'task.completed'
      group by task_id having count(*) > 1`;
    assert.deepEqual([...twice], []);
    for (const { hasEnded } of [...old, ...young]) assert.equal(hasEnded(), false);
    printFigures({
      created,
      by_old_workers: await completed(SCHEMA_VERSION),
      by_new_workers: await completed(NEXT),
    });
  });
});

Deno.test("an upgrade does not wait until an autovacuum of a large table has ended", async () => {
  await using server = await startMigratedServer();
  const { admin, sql } = server;
  await admin`alter system set autovacuum_naptime = '1s'`;
  await admin`select pg_reload_conf()`;
  // As slow as on a table of many gigabytes.
  await sql`
    alter table public.tasks set (
      autovacuum_vacuum_insert_threshold = 0, autovacuum_vacuum_insert_scale_factor = 0,
      autovacuum_vacuum_cost_delay = 100, autovacuum_vacuum_cost_limit = 1
    )`;
  await sql`
    select from generate_series(1, ${DELAYED}::int) as n, lateral private.create_task(
      'writer', jsonb_build_object('n', n), p_run_after => now() + interval '1 day')`;
  await waitFor(async () => {
    const [vacuum] = await admin`
      select from pg_stat_progress_vacuum where relid = 'public.tasks'::regclass`;
    return vacuum;
  }, { what: "an autovacuum of tasks" });

  await waitFor(() => apply(sql, RELEASE).then(() => true, isLockTimeout), { what: "the upgrade" });

  const [tasks] = await admin`
    select autovacuum_count::int as completed from pg_stat_user_tables
    where relid = 'public.tasks'::regclass`;
  assert.equal(tasks?.completed, 0);
});

function isLockTimeout(error: unknown): false {
  if (/lock timeout/.test(String(error))) return false;
  throw error;
}

/** The sources of the next release. */
async function openNextRelease(): Promise<AsyncDisposable & { readonly folder: string }> {
  const folder = await Deno.makeTempDir({ prefix: "supaswarm_next_release_" });
  for (const name of ["client", "scripts", "shared", "stack", "tests"]) {
    const except = ["node_modules", "dist", "fixtures"];
    await copyFolder(join(PROJECT_ROOT, name), join(folder, name), { except });
  }
  await Deno.copyFile(join(PROJECT_ROOT, "deno.json"), join(folder, "deno.json"));
  await Deno.copyFile(join(PROJECT_ROOT, "deno.lock"), join(folder, "deno.lock"));
  const path = join(folder, "shared/platform/db/schema_version.ts");
  const source = await Deno.readTextFile(path);
  await Deno.writeTextFile(path, source.replace(`"${SCHEMA_VERSION}"`, `"${NEXT}"`));
  return { folder, [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }) };
}

interface WorkerProcess extends AsyncDisposable {
  /** Waits until it has printed the line. */
  printed(line: string): Promise<void>;
  hasEnded(): boolean;
}

function startWorker(root: string, { cluster }: NativeServer): WorkerProcess {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", join(root, "tests/postgres/upgrade_worker.ts"), cluster.url],
    cwd: root,
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  let printed = "";
  let hasEnded = false;
  const reading = (async () => {
    for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) printed += text;
  })();
  void child.status.then(() => hasEnded = true);
  return {
    printed: async (line) =>
      void await waitFor(() => printed.split("\n").includes(line), {
        what: `a worker to be ${line}`,
      }),
    hasEnded: () => hasEnded,
    async [Symbol.asyncDispose]() {
      if (!hasEnded) child.kill("SIGKILL");
      await child.status;
      await reading;
    },
  };
}

/** Creates tasks until it is stopped, while the tables allow it. */
function startLoad({ cluster }: NativeServer): AsyncDisposable & { stop(): Promise<number> } {
  const sql = createSql(cluster.url, { maxConnections: 1, applicationName: "load" });
  let isStopping = false;
  let created = 0;
  const ended = (async () => {
    while (!isStopping) {
      await sql`select private.create_task('test-planner', '"now"')`;
      created++;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })();
  const stop = async () => {
    isStopping = true;
    await ended;
    return created;
  };
  return {
    stop,
    async [Symbol.asyncDispose]() {
      await stop().catch(() => {});
      await sql.end({ timeout: 1 });
    },
  };
}
