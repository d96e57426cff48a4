import { createSql, type Sql } from "../../shared/db/sql_client.ts";
import { scriptModel } from "../models/scripted_agent.ts";
import { PROJECT_ROOT } from "../project_root.ts";
import { startStack } from "../stack/stack.ts";
import { waitFor } from "../wait_for.ts";
import { type BenchResult, judge, percentile } from "./bench_result.ts";
import { treeMemoryMib } from "./process_memory.ts";

const WARM_UP_TASKS = 10;
const TASKS = 200;

/**
 * Pickup: from a task's creation to the start of its first step, on a warm worker, one task at a
 * time with random pauses of 20 to 50 ms.
 *
 * @param db `pglite`, `native` or a URL.
 */
export async function benchPickup(db: string): Promise<BenchResult> {
  const stack = await startStack({
    db,
    port: 0,
    ephemeral: true,
    dataDir: "",
    projectRoot: PROJECT_ROOT,
    watch: false,
    onLog: () => {},
  });
  const sql = createSql(stack.dbUrl, { maxConnections: 1, applicationName: "bench" });
  try {
    stack.models.addAgent(scriptModel("bench", () => ({
      toolCalls: [{ name: "complete_task", arguments: { output: "done" } }],
    })));
    await sql`
      insert into public.agents (name, slug, system_prompt, provider_id, model)
      select 'Bench', 'bench', 'You are timed.', id, 'bench'
      from public.llm_providers where name = 'demo'`;
    for (let n = 0; n < WARM_UP_TASKS; n++) await pickUp(sql);
    const times: number[] = [];
    for (let n = 0; n < TASKS; n++) {
      await new Promise((resolve) => setTimeout(resolve, 20 + Math.random() * 30));
      times.push(await pickUp(sql));
    }
    const memory = await treeMemoryMib();
    return judge("pickup", {
      tasks: TASKS,
      p50_ms: percentile(times, 0.5),
      p95_ms: percentile(times, 0.95),
      p99_ms: percentile(times, 0.99),
      boot_ms: stack.bootMs,
      ...memory === null ? {} : { memory_mib: memory },
    }, { p50_ms: { max: db === "pglite" ? 250 : 50 } });
  } finally {
    await sql.end();
    await stack.stop();
  }
}

/** Milliseconds by the database's clock. */
async function pickUp(sql: Sql): Promise<number> {
  const [task] = await sql<{ id: string }[]>`
    select task_id as id from private.create_task('bench', '"now"')`;
  if (task === undefined) throw new Error("No task was created");
  const step = await waitFor(async () => {
    const [row] = await sql<{ pickup_ms: number }[]>`
      select round((extract(epoch from step.started_at - task.created_at) * 1000)::numeric, 1)::float8
        as pickup_ms
      from public.tasks as task
      join public.task_steps as step on step.task_id = task.id and step.seq = 1
      where task.id = ${task.id} and task.status = 'completed'`;
    return row;
  }, { timeoutMs: 30_000, what: "the end of a task" });
  return step.pickup_ms;
}
