import assert from "node:assert/strict";
import { join } from "node:path";
import { BOOT_STEPS, type BootProgress } from "../../stack/boot.ts";
import { type StackOptions, startStack } from "../../stack/stack.ts";
import { createSql } from "../../shared/platform/db/sql_client.ts";
import { waitFor } from "../../scripts/wait_for.ts";
import { areGone, descendants, freezeDatabase } from "./process_tree.ts";

type Step = typeof BOOT_STEPS[number];

/** A start of a project with one migration. It asks the database in each step. */
function startIn(folder: string, options: Pick<StackOptions, "signal" | "onProgress">) {
  return startStack({
    db: "pglite",
    port: 0,
    dataDir: join(folder, "data"),
    projectRoot: join(folder, "project"),
    watch: false,
    onLog: () => {},
    env: {},
    startCompanion: () =>
      Promise.resolve({
        prepare: async ({ dbUrl }) => {
          const sql = createSql(dbUrl, { maxConnections: 1, applicationName: "companion" });
          await sql`select 1`;
          await sql.end();
        },
      }),
    ...options,
  });
}

async function makeProject(): Promise<{ readonly folder: string } & AsyncDisposable> {
  const folder = await Deno.makeTempDir({ prefix: "supaswarm-stall-" });
  const supabase = join(folder, "project", "supabase");
  await Deno.mkdir(join(supabase, "migrations"), { recursive: true });
  await Deno.mkdir(join(supabase, "functions"));
  await Deno.writeTextFile(
    join(supabase, "migrations", "20260101000000_one.sql"),
    "create table public.one as select 1 as i;",
  );
  return { folder, [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }) };
}

/** Sends a signal to the database's process when a step begins. */
function whenIn(step: Step, folder: string, signal: Deno.Signal): {
  readonly onProgress: (progress: BootProgress) => void;
  readonly sent: Promise<void>;
} {
  const { promise: sent, resolve, reject } = Promise.withResolvers<void>();
  const onProgress = ({ step: begun, doing }: BootProgress) => {
    if (begun !== step || doing !== null) return;
    // At the first step there is no process yet.
    if (step === BOOT_STEPS[0]) return void freezeDatabase(Deno.pid).then(() => resolve(), reject);
    const lock = Deno.readTextFileSync(join(folder, "data", "pglite.lock"));
    Deno.kill(JSON.parse(lock).pid, signal);
    resolve();
  };
  return { onProgress, sent };
}

for (const step of BOOT_STEPS) {
  Deno.test(`a start whose database does not answer during "${step}" ends with its signal`, async () => {
    await using project = await makeProject();
    const stopping = new AbortController();
    const { onProgress, sent } = whenIn(step, project.folder, "SIGSTOP");
    const start = startIn(project.folder, { signal: stopping.signal, onProgress });
    start.catch(() => {});
    await sent;
    const children = await descendants(Deno.pid);

    stopping.abort(new Error("Ctrl-C"));

    await assert.rejects(start, /Ctrl-C/);
    await waitFor(() => areGone(children), { what: "the end of every process" });
  });
}

// The last step starts what follows the database when it comes back.
for (const step of BOOT_STEPS.slice(1, -1)) {
  Deno.test(`a start whose database dies during "${step}" says so, and the next one succeeds`, async () => {
    await using project = await makeProject();
    const { onProgress } = whenIn(step, project.folder, "SIGKILL");

    await assert.rejects(startIn(project.folder, { onProgress }), {
      code: "DATABASE_UNAVAILABLE",
      message: `Cannot start: the database ended or did not answer during "${step}"`,
    });

    const next = await startIn(project.folder, {});
    await next.stop();
  });
}
