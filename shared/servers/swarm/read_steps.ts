import { z } from "../../vendor/zod.js";
import { CLOSED_SETS } from "../../platform/db/closed_sets.ts";
import { jsonValue } from "../../platform/values/json_schema.ts";
import { defineTool } from "../../gateway/tool_contracts/internal_server.ts";
import { asOwner } from "../as_owner.ts";
import { taskNotFound } from "./read_job.ts";
import { SWARM_SCOPES } from "./swarm_scopes.ts";

/** Bytes shown of a step's input or output. */
const MAX_VALUE_BYTES = 8_192;

const stepSchema = z.object({
  step: z.number(),
  kind: z.enum(CLOSED_SETS.task_steps.kind),
  state: z.enum(CLOSED_SETS.task_steps.state),
  name: z.string().nullable().describe("Of the tool"),
  input: jsonValue.nullable(),
  output: jsonValue.nullable(),
  started_at: z.string(),
  ended_at: z.string().nullable(),
});

/** Shows the steps of an agent. */
export const readStepsTool = defineTool({
  name: "read_steps",
  title: "Read a task's steps",
  description:
    "Reads the transcript of one task: each call of its model and its tools, with input and " +
    "output. Long values are truncated.",
  version: "1",
  scopes: SWARM_SCOPES,
  annotations: { readOnlyHint: true, openWorldHint: false },
  input: z.strictObject({
    task_id: z.guid(),
    after_step: z.int().min(0).default(0),
    limit: z.int().min(1).max(100).default(20),
  }),
  output: z.object({ steps: z.array(stepSchema) }),
  async run({ task_id, after_step, limit }, context) {
    const rows = await asOwner(context, "read", async (sql) => {
      const [task] = await sql`select from public.tasks as task where task.id = ${task_id}::uuid`;
      if (task === undefined) throw taskNotFound(task_id);
      const shown = (column: string) =>
        sql`case when octet_length(${sql(column)}::text) <= ${MAX_VALUE_BYTES}::int
          then ${sql(column)}
          else jsonb_build_object('cut', left(${sql(column)}::text, ${MAX_VALUE_BYTES}::int)) end`;
      return await sql`
        select jsonb_build_object(
          'step', step.seq, 'kind', step.kind, 'state', step.state, 'name', step.name,
          'input', ${shown("input")}, 'output', ${shown("output")},
          'started_at', step.started_at, 'ended_at', step.ended_at
        ) as step
        from public.task_steps as step
        where step.task_id = ${task_id}::uuid and step.seq > ${after_step}::int
        order by step.seq
        limit ${limit}`;
    });
    return { steps: rows.map((row) => stepSchema.parse(row.step)) };
  },
});
