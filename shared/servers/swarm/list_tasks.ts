import { z } from "../../vendor/zod.js";
import { CLOSED_SETS } from "../../platform/db/closed_sets.ts";
import { definedOnly } from "../../platform/values/defined_only.ts";
import { defineTool } from "../../gateway/tool_contracts/internal_server.ts";
import { asOwner } from "../as_owner.ts";
import { taskSummary } from "./job_schema.ts";
import { SWARM_SCOPES } from "./swarm_scopes.ts";

/** The lowest id, so that a time without an id sorts before all tasks of that time. */
const LEAST_ID = "00000000-0000-0000-0000-000000000000";

/** A time, or a time and a task id, because several tasks can share a time. */
const placeSchema = z.string().max(100).refine(isPlace, "must be next_before of a page, or a time");

const output = z.object({
  tasks: z.array(taskSummary),
  next_before: z.string().nullable().describe(
    "The `before` for the next page; null on the last page",
  ),
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
    agent: z.string().max(63).optional().describe("Slug of the agent"),
    limit: z.int().min(1).max(100).default(20),
    before: placeSchema.optional().describe(
      "Only tasks created earlier: next_before of the previous page, or a time",
    ),
  }),
  output,
  async run({ status = null, agent = null, limit, before }, context) {
    const { at = null, id = LEAST_ID } = before === undefined ? {} : placeOf(before);
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
        and (${at}::text is null
          -- As text: the driver would cut a time to milliseconds.
          or (task.created_at, task.id) < (${at}::text::timestamptz, ${id}::uuid))
      order by task.created_at desc, task.id desc
      limit ${limit}`);
    const tasks = rows.map((row) => taskSummary.parse(row.task));
    const last = tasks.length === limit ? tasks.at(-1) : undefined;
    const next = last === undefined ? null : `${last.created_at}_${last.task_id}`;
    return { tasks, next_before: next };
  },
});

function placeOf(before: string): { at?: string; id?: string } {
  const [at, id] = before.split("_");
  return { ...definedOnly({ at, id }) };
}

function isPlace(before: string): boolean {
  const { at, id } = placeOf(before);
  return z.iso.datetime({ offset: true }).safeParse(at).success &&
    z.guid().optional().safeParse(id).success;
}
