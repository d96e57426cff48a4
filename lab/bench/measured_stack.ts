import { createSql, type Sql } from "../../shared/platform/db/sql_client.ts";
import type { JsonValue } from "../../shared/platform/values/json.ts";
import { type ScriptedAgent, scriptModel } from "../../scripts/models/scripted_agent.ts";
import { PROJECT_ROOT } from "../../scripts/project_root.ts";
import { type LocalPlatform, startPlatform } from "../../scripts/platform/start_platform.ts";
import { readEnvironment } from "../../stack/stack_environment.ts";
import { waitFor } from "../../scripts/wait_for.ts";

/** A complete, empty platform that is removed at the end of its scope. */
export interface MeasuredStack extends AsyncDisposable {
  readonly stack: LocalPlatform;
  /** A connection as role `postgres`. */
  readonly sql: Sql;
  addAgent(slug: string, answer: ScriptedAgent["answer"]): Promise<void>;
  createTask(agent: string, options?: TaskOptions): Promise<string>;
  /** Waits until the task has ended. Any status other than `completed` is an error. */
  untilCompleted(taskId: string, timeoutMs: number): Promise<void>;
}

interface TaskOptions {
  readonly input?: JsonValue;
  readonly ownerId?: string;
  readonly budget?: Readonly<Record<string, number | null>>;
}

/**
 * Starts the platform like `deno task start`, with a real worker.
 *
 * @param db `pglite`, `native` or a URL.
 * @param env Settings of the product, which override those of the machine.
 */
export async function startMeasuredStack(
  db: string,
  env: Readonly<Record<string, string>> = {},
): Promise<MeasuredStack> {
  const stack = await startPlatform({
    db,
    port: 0,
    dataDir: null,
    syncsWrites: true,
    projectRoot: PROJECT_ROOT,
    watch: false,
    onLog: () => {},
    env: { ...await readEnvironment(PROJECT_ROOT), ...env },
  });
  const sql = createSql(stack.dbUrl, { maxConnections: 2, applicationName: "bench" });
  return {
    stack,
    sql,

    async addAgent(slug, answer) {
      stack.models.addAgent(scriptModel(slug, answer));
      await sql`
        insert into public.agents (name, slug, system_prompt, provider_id, model)
        select ${slug}, ${slug}, 'You are timed.', id, ${slug}
        from public.llm_providers where name = 'demo'`;
    },

    async createTask(agent, { input = "now", ownerId, budget } = {}) {
      const [row] = await sql<{ id: string }[]>`
        select task_id as id from private.create_task(
          p_agent => ${agent},
          p_input => ${sql.json(input)},
          p_created_by => ${ownerId ?? null}::uuid,
          p_budget => ${budget === undefined ? null : sql.json(budget)}::jsonb
        )`;
      if (row === undefined) throw new Error("Cannot find the created task");
      return row.id;
    },

    async untilCompleted(taskId, timeoutMs) {
      await waitFor(async () => {
        const [row] = await sql<{ status: string; error: JsonValue }[]>`
          select status, error from public.tasks where id = ${taskId}::uuid`;
        if (row?.status === "failed" || row?.status === "cancelled") {
          throw new Error(
            `The task ended with the status ${row.status}: ${JSON.stringify(row.error)}`,
          );
        }
        return row?.status === "completed";
      }, { timeoutMs, what: "the end of a task" });
    },

    async [Symbol.asyncDispose]() {
      await sql.end({ timeout: 1 });
      await stack.stop();
    },
  };
}
