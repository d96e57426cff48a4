import assert from "node:assert/strict";
import type { Sql } from "../../shared/platform/db/sql_client.ts";

/** How deep the job's subtasks nest. */
const DEPTH = 14;

/**
 * Adds a job that has ended, with a chain of subtasks and the longest times, costs and names that a
 * trace shows. Its third step is a tool whose result contains the given text.
 *
 * @returns The job's id.
 */
export async function addTracedJob(sql: Sql, ownerId: string, result: string): Promise<string> {
  const chain: string[] = [];
  for (let depth = 0; depth < DEPTH; depth++) {
    const id: string = await addTask(sql, ownerId, chain);
    await addSteps(sql, id, ownerId, result);
    chain.push(id);
  }
  return chain[0] ?? "";
}

async function addTask(sql: Sql, ownerId: string, chain: readonly string[]): Promise<string> {
  const parent = chain.at(-1) ?? null;
  const [task] = await sql<{ id: string }[]>`
    insert into public.tasks (
      id, master_task_id, parent_id, parent_step_seq, agent_slug, input, output, status, created_by,
      created_at, started_at, finished_at, depth
    )
    select id, coalesce(${chain[0] ?? null}::uuid, id), ${parent}::uuid,
      ${parent === null ? null : 4}::int, 'market-researcher-of-level-' || ${chain.length}::int,
      '"Compare the harbors"', '"done"', 'completed', ${ownerId}::uuid, at, at,
      at + interval '23 hours 59 minutes', ${chain.length}::int
    from (select private.new_id() as id, timestamptz '2026-11-25T08:00:00Z' as at) as made
    returning id`;
  assert.ok(task);
  return task.id;
}

async function addSteps(sql: Sql, taskId: string, ownerId: string, result: string): Promise<void> {
  await sql`
    insert into public.task_steps (
      task_id, seq, kind, state, name, input, output, usage, epoch, started_at, ended_at
    )
    select ${taskId}::uuid, seq, kind, 'done', name, input, output, usage, 1,
      at + began, at + began + took
    from (values
      (1, 'model', 'm', null::jsonb, '{"text": "I hand the five topics to researchers."}'::jsonb,
        '{"model": "m", "input_tokens": 123456789, "output_tokens": 45678}'::jsonb,
        interval '0', interval '3 minutes 11 seconds'),
      (2, 'model', 'm', null, '{"text": "I fetch data."}',
        '{"model": "m", "input_tokens": 364, "output_tokens": 20}', interval '4 minutes', interval '812 ms'),
      (3, 'tool', 'orders', '{"server": "shop", "arguments": {"country": "DE"}}',
        jsonb_build_object('text', ${result}::text), null, interval '5 minutes', interval '59 minutes 59 seconds'),
      (4, 'system', 'create_subtask', '{"arguments": {"agent": "market-researcher", "input": "Look into demand"}}',
        '{"text": "done"}', null, interval '2 hours', interval '21 hours 5 minutes')
    ) as step (seq, kind, name, input, output, usage, began, took),
    (select timestamptz '2026-11-25T08:00:00Z' as at) as start`;
  await sql`
    insert into public.usage_events (
      user_id, task_id, step_seq, model, key_source, input_tokens, output_tokens, cost_micro_usd
    )
    values (${ownerId}::uuid, ${taskId}::uuid, 1, 'm', 'none', 1, 1, 1234567890),
      (${ownerId}::uuid, ${taskId}::uuid, 2, 'm', 'none', 1, 1, 729)`;
}
