import { z } from "../../shared/vendor/zod.js";
import type { AgentChanges } from "../../client/create_swarm.ts";
import type { Sql } from "../../shared/platform/db/sql_client.ts";
import { toStorableJson } from "../../shared/platform/values/storable_json.ts";
import { SwarmError } from "../../shared/platform/errors/swarm_error.ts";
import { toSwarmError } from "../../shared/platform/db/to_swarm_error.ts";
import { CommandError } from "../cli/run_command.ts";
import type { TestResult } from "./test_result.ts";

/** A run of the tests of one agent. */
export type EvalRun = z.infer<typeof runSchema>;
const runSchema = z.object({
  id: z.string(),
  agent_slug: z.string(),
  agent_revision: z.number().nullable(),
  provider: z.string().nullable(),
  model: z.string().nullable(),
  /** What the jobs change of the agent. */
  agent_changes: z.object({ provider: z.string(), model: z.string() }).nullable(),
  /** The models that answered; null before the end. */
  answered_by: z.array(z.string()).nullable(),
});
const RUN_COLUMNS = [
  "id",
  "agent_slug",
  "agent_revision",
  "provider",
  "model",
  "agent_changes",
  "answered_by",
];

const resultsSchema = z.array(z.object({ test: z.string(), passed: z.boolean() }));

/** Another model than the agent's; null for the agent's own. */
export type ChosenModel = Pick<AgentChanges, "provider" | "model"> | null;

/**
 * Begins a run.
 *
 * @throws SwarmError AGENT_NOT_FOUND, PROVIDER_NOT_FOUND, AGENT_CHANGES_INVALID,
 * DATABASE_UNAVAILABLE
 */
export async function beginRun(
  sql: Sql,
  agent: string,
  userId: string,
  model: ChosenModel,
): Promise<EvalRun> {
  try {
    const [row] = await sql`
      select ${sql(RUN_COLUMNS)}
      from private.begin_eval_run(
        p_agent => ${agent}, p_user_id => ${userId},
        p_agent_changes => ${model === null ? null : sql.json({ ...model })}
      ) as run`;
    return runSchema.parse(row);
  } catch (error) {
    const failure = toSwarmError(error, "run the evals");
    if (failure.code !== "AGENT_NOT_FOUND") throw failure;
    const hint = `${failure.hint} deno task push writes its file, or says why it is refused.`;
    throw new SwarmError(failure.code, failure.message, { hint, cause: failure });
  }
}

/** Records the result of one job. */
export async function recordResult(sql: Sql, runId: string, result: TestResult): Promise<void> {
  const row = {
    test: result.test,
    repeat: result.repeat,
    task_id: result.taskId,
    passed: result.passed,
    score: result.score,
    assertions: result.assertions,
    error: result.error,
    cost_micro_usd: result.costMicroUsd,
    latency_ms: result.latencyMs,
  };
  await sql`
    select private.record_eval_result(
      p_run_id => ${runId}, p_result => ${sql.json(toStorableJson(JSON.parse(JSON.stringify(row))))}
    )`;
}

/** Ends a run whose jobs all have results. */
export async function endRun(sql: Sql, runId: string): Promise<EvalRun> {
  const [row] = await sql`
    select ${sql(RUN_COLUMNS)} from private.end_eval_run(p_run_id => ${runId}) as run`;
  return runSchema.parse(row);
}

/** A run with which another one is compared. */
export interface EarlierRun extends EvalRun {
  readonly results: readonly z.infer<typeof resultsSchema>[number][];
}

/**
 * Finds an ended run of an agent: `last`, the number of a revision (its last run), the name of a
 * model (its last run), or the id of a run.
 *
 * @throws CommandError if there is none.
 */
export async function findRun(sql: Sql, agent: string, wanted: string): Promise<EarlierRun> {
  const revision = /^\d{1,9}$/.test(wanted) ? Number(wanted) : null;
  const id = z.uuid().safeParse(wanted).success ? wanted : null;
  const model = wanted === "last" || revision !== null || id !== null ? null : wanted;
  const [row] = await sql`
    select ${sql(RUN_COLUMNS)}
    from public.eval_runs as run
    where run.agent_slug = ${agent} and run.finished_at is not null
      and (${revision}::int is null or run.agent_revision = ${revision}::int)
      and (${id}::uuid is null or run.id = ${id}::uuid)
      and (${model}::text is null or run.model = ${model}::text)
    order by run.created_at desc
    limit 1`;
  if (row === undefined) throw await noSuchRun(sql, agent, { revision, id, model });
  const run = runSchema.parse(row);
  const results = await sql`
    select result.test, result.passed from public.eval_results as result
    where result.run_id = ${run.id}`;
  return { ...run, results: resultsSchema.parse([...results]) };
}

async function noSuchRun(
  sql: Sql,
  agent: string,
  { revision, id, model }: {
    readonly revision: number | null;
    readonly id: string | null;
    readonly model: string | null;
  },
): Promise<CommandError> {
  if (revision !== null) {
    return new CommandError(`Cannot compare: ${agent} has no finished run at revision ${revision}`);
  }
  if (id !== null) return new CommandError(`Cannot compare: ${agent} has no finished run ${id}`);
  if (model === null) return new CommandError(`Cannot compare: ${agent} has no finished run`);
  const models = await sql`
    select distinct run.model from public.eval_runs as run
    where run.agent_slug = ${agent} and run.finished_at is not null and run.model is not null
    order by 1 limit 20`;
  const known = models.map((row) => row.model).join(", ") || "none";
  return new CommandError(
    `Cannot compare with "${model}": write last, the number of a revision, the id of a run, or a ` +
      `model with which ${agent} has a finished run (${known})`,
  );
}
