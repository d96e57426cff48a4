import type { Sql } from "../../shared/platform/db/sql_client.ts";
import type { JsonObject } from "../../shared/platform/values/json.ts";

/** Creates a user's job that ran out of attempts, and returns its id. */
export async function buryJob(
  sql: Sql,
  { agent, ownerId, error, reason = "attempts_exhausted" }: {
    readonly agent: string;
    readonly ownerId: string;
    readonly error: JsonObject;
    readonly reason?: string;
  },
): Promise<string> {
  const [job] = await sql<{ task_id: string }[]>`
    select task_id from private.create_task(${agent}, '{}', ${ownerId},
      p_run_after => now() + interval '1 hour')`;
  const id = job?.task_id ?? "";
  await sql`
    select private.bury_task(task, ${reason}, ${sql.json(error)})
    from public.tasks as task where id = ${id}`;
  return id;
}
