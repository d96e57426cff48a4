import { z } from "zod";
import { CLOSED_SETS } from "../../../db/database.types.ts";
import { defineTool } from "../../internal_server.ts";
import { asOwner } from "../../as_owner.ts";
import { taskSummary } from "./job_schema.ts";
import { SWARM_SCOPES } from "./swarm_scopes.ts";

const output = z.object({
  tasks: z.array(taskSummary),
  next_before: z.string().nullable().describe("For `before` of the next page; null: no more"),
});

/** Lists the caller's jobs. */
export const listTasksTool = defineTool({
  name: "list_tasks",
  title: "List tasks",
  description: "Lists your master tasks, newest first.",
  version: "1",
  scopes: SWARM_SCOPES,
  annotations: { readOnlyHint: true, openWorldHint: false },
  input: z.strictObject({
    status: z.enum(CLOSED_SETS.tasks.status).optional(),
    agent: z.string().optional().describe("Slug of the agent"),
    limit: z.int().min(1).max(100).default(20),
    before: z.iso.datetime({ offset: true }).optional().describe("Only tasks created earlier"),
  }),
  output,
  async run({ status = null, agent = null, limit, before = null }, context) {
    const rows = await asOwner(context, "read", (sql) =>
      sql`
      select jsonb_build_object(
        'task_id', task.id, 'agent', task.agent_slug, 'status', task.status, 'error', task.error,
        'created_at', task.created_at, 'finished_at', task.finished_at
      ) as task
      from public.tasks as task
      where task.parent_id is null
        and (${status}::text is null or task.status = ${status})
        and (${agent}::text is null or task.agent_slug = ${agent})
        and (${before}::timestamptz is null or task.created_at < ${before}::timestamptz)
      order by task.created_at desc, task.id
      limit ${limit}`);
    const tasks = rows.map((row) => taskSummary.parse(row.task));
    const last = tasks.length === limit ? tasks.at(-1) : undefined;
    return { tasks, next_before: last?.created_at ?? null };
  },
});
