import type { Sql } from "../../shared/platform/db/sql_client.ts";
import { type BenchResult, judge, rounded } from "./bench_result.ts";
import { answerByGuessing, type GuessingTask } from "./learning/guessing_agent.ts";
import { PARAMETERS, PICKY_APIS, startPickyApis } from "./learning/picky_apis.ts";
import { type MeasuredStack, startMeasuredStack } from "./measured_stack.ts";
import { serverVersion } from "./server_version.ts";

const AGENT = "bench-learning";
const ROUNDS = 8;
const TASK_TIMEOUT_MS = 120_000;

interface TaskCalls {
  readonly calls: number;
  readonly is_success: boolean;
}

/**
 * Learned parameters: how much they help a model that guesses parameter names. Measures the share
 * of tasks whose first call works, and the calls per success. The same tasks run three times on the
 * real worker and gateway:
 *
 * - `without`: everything learned is deleted before each task.
 * - `with`: one user, who learns from each call.
 * - `new_user`: each task by a user who never called a tool and gets the shapes of others' calls.
 *
 * @param db `pglite`, `native` or a URL.
 */
export async function benchLearning(db: string): Promise<BenchResult> {
  await using apis = startPickyApis();
  await using measured = await startMeasuredStack(db);
  const { sql } = measured;
  await measured.addAgent(AGENT, answerByGuessing);
  await addTools(sql, apis.url);
  const user = await addUser(sql);
  const without = await runRounds(measured, async () => {
    await deleteEverything(sql);
    return user;
  });
  await deleteEverything(sql);
  const withCache = await runRounds(measured, () => Promise.resolve(user));
  const newUser = await runRounds(measured, () => addUser(sql));
  return toResult({ without, withCache, newUser }, await serverVersion(sql));
}

interface Runs {
  readonly without: readonly TaskCalls[];
  readonly withCache: readonly TaskCalls[];
  readonly newUser: readonly TaskCalls[];
}

function toResult(
  { without, withCache, newUser }: Runs,
  versions: Readonly<Record<string, string>>,
): BenchResult {
  const firstTry = { without: firstTryShare(without), with: firstTryShare(withCache) };
  const perSuccess = { without: callsPerSuccess(without), with: callsPerSuccess(withCache) };
  const figures = {
    tasks_each: without.length,
    without_first_try_share: firstTry.without,
    with_first_try_share: firstTry.with,
    new_user_first_try_share: firstTryShare(newUser),
    without_calls_per_success: perSuccess.without,
    with_calls_per_success: perSuccess.with,
    new_user_calls_per_success: callsPerSuccess(newUser),
    first_try_gain_share: rounded(firstTry.with - firstTry.without),
    calls_saved_share: rounded(1 - perSuccess.with / perSuccess.without),
  };
  const targets = {
    with_first_try_share: { min: 0.85 },
    new_user_first_try_share: { min: 0.95 },
    with_calls_per_success: { max: 1.3 },
    first_try_gain_share: { min: 0.6 },
    calls_saved_share: { min: 0.4 },
  };
  return judge("learning", figures, targets, {
    versions,
    notes: [
      "The model is a script that guesses one of four names for each of two arguments, follows what it reads in a tool's description or a retry message, and corrects what an error names.",
      "`with_…` includes the first tasks, when nothing was learned yet; `new_user_…` are users who have never called a tool and see the shapes of other users' arguments.",
    ],
  });
}

function firstTryShare(tasks: readonly TaskCalls[]): number {
  return rounded(tasks.filter((task) => task.is_success && task.calls === 1).length / tasks.length);
}

/** Counts all calls, including those of tasks that never succeeded. */
function callsPerSuccess(tasks: readonly TaskCalls[]): number {
  const calls = tasks.reduce((sum, task) => sum + task.calls, 0);
  return rounded(calls / tasks.filter((task) => task.is_success).length);
}

/** Each round runs one task per API concurrently, so none can learn from another in its round. */
async function runRounds(
  measured: MeasuredStack,
  userOfRound: () => Promise<string>,
): Promise<TaskCalls[]> {
  const results: TaskCalls[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const ownerId = await userOfRound();
    const taskIds: string[] = [];
    for (const { slug: tool } of PICKY_APIS) {
      const task: GuessingTask = { tool, round };
      taskIds.push(await measured.createTask(AGENT, { input: { ...task }, ownerId }));
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

async function addTools(sql: Sql, apisUrl: string): Promise<void> {
  for (const { slug } of PICKY_APIS) {
    const config = { method: "GET", url: `${apisUrl}/${slug}`, parameters: PARAMETERS };
    await sql`
      with tool as (
        insert into public.tools (name, slug, type, config, description)
        values (${slug}, ${slug}, 'http_api', ${sql.json(config)}, 'Finds entries of a day')
        returning id
      )
      insert into public.agent_tools (agent_id, tool_id)
      select agent.id, tool.id from tool, public.agents as agent where agent.slug = ${AGENT}`;
    await sql`select public.grant_scopes(null, ${`{mcp:${slug}}`}::text[])`;
  }
}

async function addUser(sql: Sql): Promise<string> {
  const id = crypto.randomUUID();
  await sql`
    insert into auth.users (id, email, aud, role)
    values (${id}, ${`${id}@example.test`}, 'authenticated', 'authenticated')`;
  return id;
}

async function deleteEverything(sql: Sql): Promise<void> {
  await sql`
    update public.mcp_tools_cache
    set successful_parameters = '[]', success_count = 0, last_successful_call = null`;
}
