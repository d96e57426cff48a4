import type { Sql } from "../../../shared/platform/db/sql_client.ts";
import { rounded } from "../bench_result.ts";
import type { MeasuredStack } from "../measured_stack.ts";
import type { GuessingTask } from "./guessing_agent.ts";
import { PARAMETERS, PICKY_APIS } from "./picky_apis.ts";

const TASK_TIMEOUT_MS = 120_000;

/** The calls of one task. */
export interface TaskCalls {
  readonly calls: number;
  readonly is_success: boolean;
}

/** Rounds of tasks of one agent. */
export interface Rounds {
  readonly measured: MeasuredStack;
  readonly agent: string;
  readonly count: number;
}

/** The share of tasks whose first call worked. */
export function firstTryShare(tasks: readonly TaskCalls[]): number {
  return rounded(tasks.filter((task) => task.is_success && task.calls === 1).length / tasks.length);
}

/** Counts all calls, including those of tasks that never succeeded. */
export function callsPerSuccess(tasks: readonly TaskCalls[]): number {
  const calls = tasks.reduce((sum, task) => sum + task.calls, 0);
  return rounded(calls / tasks.filter((task) => task.is_success).length);
}

/** Each round runs one task per API concurrently, so none can learn from another in its round. */
export async function runRounds(
  { measured, agent, count }: Rounds,
  userOfRound: () => Promise<string>,
): Promise<TaskCalls[]> {
  const results: TaskCalls[] = [];
  for (let round = 0; round < count; round++) {
    const ownerId = await userOfRound();
    const taskIds: string[] = [];
    for (const place of PICKY_APIS.keys()) {
      const task: GuessingTask = { api: place, round };
      taskIds.push(await measured.createTask(agent, { input: { ...task }, ownerId }));
    }
    for (const id of taskIds) {
      await measured.untilCompleted(id, TASK_TIMEOUT_MS);
      results.push(await callsOf(measured.sql, id));
    }
  }
  return results;
}

async function callsOf(sql: Sql, taskId: string): Promise<TaskCalls> {
  const [row] = await sql<TaskCalls[]>`
    select count(*)::int as calls, coalesce(bool_or(status = 'success'), false) as is_success
    from public.mcp_executions where task_id = ${taskId}::uuid`;
  if (row === undefined) throw new Error("Cannot read the calls: a task has none");
  return row;
}

/** Registers the APIs as tools of the agent. */
export async function addPickyTools(sql: Sql, agent: string, apisUrl: string): Promise<void> {
  for (const { slug } of PICKY_APIS) {
    const config = { method: "GET", url: `${apisUrl}/${slug}`, parameters: PARAMETERS };
    await sql`
      with tool as (
        insert into public.tools (name, slug, type, config, description)
        values (${slug}, ${slug}, 'http_api', ${sql.json(config)}, 'Finds entries of a day')
        returning id
      )
      insert into public.agent_tools (agent_id, tool_id)
      select agent.id, tool.id from tool, public.agents as agent where agent.slug = ${agent}`;
    await sql`select public.grant_scopes(null, ${`{mcp:${slug}}`}::text[])`;
  }
}

/** Adds a user who has never called a tool. */
export async function addUser(sql: Sql): Promise<string> {
  const id = crypto.randomUUID();
  await sql`
    insert into auth.users (id, email, aud, role)
    values (${id}, ${`${id}@example.test`}, 'authenticated', 'authenticated')`;
  return id;
}

/** Deletes everything that was learned from calls. */
export async function deleteEverything(sql: Sql): Promise<void> {
  await sql`
    update public.mcp_tools_cache
    set successful_parameters = '[]', success_count = 0, last_successful_call = null`;
}
