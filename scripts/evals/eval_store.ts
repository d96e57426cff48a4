import { z } from "../../shared/vendor/zod.js";
import type { Sql } from "../../shared/platform/db/sql_client.ts";
import { toStorableJson } from "../../shared/platform/values/storable_json.ts";
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
});

const resultsSchema = z.array(z.object({ test: z.string(), passed: z.boolean() }));

/** Begins a run. @throws SwarmError AGENT_NOT_FOUND, DATABASE_UNAVAILABLE */
export async function beginRun(sql: Sql, agent: string, userId: string): Promise<EvalRun> {
  try {
    const [row] = await sql`
      select run.id, run.agent_slug, run.agent_revision, run.provider, run.model
      from private.begin_eval_run(p_agent => ${agent}, p_user_id => ${userId}) as run`;
    return runSchema.parse(row);
  } catch (error) {
    throw toSwarmError(error, "run the evals");
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
export async function endRun(sql: Sql, runId: string): Promise<void> {
  await sql`select private.end_eval_run(p_run_id => ${runId})`;
}

/** A run with which another one is compared. */
export interface EarlierRun extends EvalRun {
  readonly results: readonly z.infer<typeof resultsSchema>[number][];
}

/**
 * Finds an ended run of an agent: `last`, the number of a revision (its last run), or the id of a
 * run.
 *
 * @throws CommandError if there is none.
 */
export async function findRun(sql: Sql, agent: string, wanted: string): Promise<EarlierRun> {
  const revision = /^\d{1,9}$/.test(wanted) ? Number(wanted) : null;
  const id = z.uuid().safeParse(wanted).success ? wanted : null;
  if (revision === null && id === null && wanted !== "last") {
    throw new CommandError(
      `Cannot compare with "${wanted}": write last, the number of a revision or the id of a run`,
    );
  }
  const [row] = await sql`
    select run.id, run.agent_slug, run.agent_revision, run.provider, run.model
    from public.eval_runs as run
    where run.agent_slug = ${agent} and run.finished_at is not null
      and (${revision}::int is null or run.agent_revision = ${revision}::int)
      and (${id}::uuid is null or run.id = ${id}::uuid)
    order by run.created_at desc
    limit 1`;
  if (row === undefined) {
    const what = revision !== null
      ? ` at revision ${revision}`
      : id !== null
      ? ` with this id`
      : "";
    throw new CommandError(`Cannot compare: ${agent} has no finished run${what}`);
  }
  const run = runSchema.parse(row);
  const results = await sql`
    select result.test, result.passed from public.eval_results as result
    where result.run_id = ${run.id}`;
  return { ...run, results: resultsSchema.parse([...results]) };
}
