import assert from "node:assert/strict";
import { join } from "node:path";
import { signUp } from "../../scripts/demo/user_client.ts";
import { PROJECT_ROOT } from "../../scripts/project_root.ts";
import { MAX_ISOLATE_CONNECTIONS } from "../../shared/platform/isolate/isolate_pool.ts";
import { addAgent, addTool, grantToEveryone } from "../e2e/operator.ts";
import { bootPlatform } from "../e2e/platform.ts";
import { call, complete, scriptTurns } from "../e2e/script.ts";
import { untilTask } from "../e2e/task_view.ts";

/** Runs as the caller, long enough for calls to overlap. */
const SLOW_FUNCTION = `
  create function public.test_slow() returns text language plpgsql stable as $$
  begin
    perform pg_catalog.pg_sleep(0.15);
    return 'rested';
  end $$;
  grant execute on function public.test_slow to authenticated;
`;

Deno.test("a worker with all its slots busy uses at most three connections", async () => {
  await using platform = await bootPlatform({ db: "native" });
  const { sql, stack: { models } } = platform;
  await sql.unsafe(SLOW_FUNCTION);
  const id = await addTool(sql, {
    slug: "slow",
    type: "supabase_rpc",
    config: { function: "public.test_slow" },
  });
  await grantToEveryone(sql, [id]);
  models.addAgent(scriptTurns("resting", call("slow__test_slow"), complete("done")));
  await addAgent(sql, { slug: "resting", tools: [{ id }] });
  await signUp(platform.project, "resting");
  const seen: Record<string, number>[] = [];
  const looking = new AbortController();
  const watching = (async () => {
    while (!looking.signal.aborted) {
      const rows = await sql<{ name: string; count: number }[]>`
        select application_name as name, count(*)::int as count from pg_stat_activity
        where application_name like 'supaswarm-worker%' or application_name = 'supaswarm caller'
        group by 1`;
      seen.push(Object.fromEntries(rows.map(({ name, count }) => [name, count])));
    }
  })();

  const tasks = await Promise.all(Array.from({ length: 6 }, async () => {
    const [row] = await sql<{ id: string }[]>`
      select task_id as id from private.create_task('resting', '"Go"', (select id from auth.users))`;
    return row?.id ?? "";
  }));
  for (const taskId of tasks) await untilTask(sql, taskId, "completed");
  looking.abort();
  await watching;

  const totals = seen.map((counts) => Object.values(counts).reduce((sum, count) => sum + count, 0));
  assert.equal(Math.max(...totals), MAX_ISOLATE_CONNECTIONS, JSON.stringify(seen.at(-1)));
  assert.ok(
    seen.some((counts) => counts["supaswarm caller"] === 1),
    "a function ran as its caller",
  );
});

Deno.test("functions open connections in one place", async () => {
  const openers: string[] = [];
  for await (const path of sources(join(PROJECT_ROOT, "shared"))) {
    if (/\bcreateSql(As)?\(|import postgres from/.test(await Deno.readTextFile(path))) {
      openers.push(path.slice(PROJECT_ROOT.length).replace(/^\//, ""));
    }
  }

  assert.deepEqual(openers.sort(), [
    "shared/engine/worker/task_listener.ts",
    "shared/platform/db/caller_session.ts",
    "shared/platform/db/sql_client.ts",
    "shared/platform/isolate/isolate_pool.ts",
  ]);
});

Deno.test("functions reserve no connection, because a new pool never answers that", async () => {
  for await (const path of sources(join(PROJECT_ROOT, "shared"))) {
    assert.doesNotMatch(await Deno.readTextFile(path), /\.reserve\(/, path);
  }
});

async function* sources(folder: string): AsyncGenerator<string> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = join(folder, name);
    if (isDirectory && name !== "vendor") yield* sources(path);
    else if (name.endsWith(".ts") && !name.endsWith("_test.ts")) yield path;
  }
}
