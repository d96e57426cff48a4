import type { Sql } from "../../shared/platform/db/sql_client.ts";
import type { ReviewAnswer } from "../../client/reviews.ts";
import { definedOnly } from "../../shared/platform/values/defined_only.ts";
import { createAssertionPorts } from "./assertion_ports.ts";
import { checkRecord } from "./check_record.ts";
import { beginRun, type ChosenModel, endRun, type EvalRun, recordResult } from "./eval_store.ts";
import type { Assertion } from "./evals_file_schema.ts";
import type { EvalTest } from "./read_evals_file.ts";
import { type EvalClient, runJob } from "./run_job.ts";
import type { TestResult } from "./test_result.ts";

/** The tests of one agent. */
export interface AgentEvals {
  readonly agent: string;
  readonly tests: readonly EvalTest[];
}

/** A run, with its results in the order of the tests. */
export interface FinishedRun {
  readonly run: EvalRun;
  readonly results: readonly TestResult[];
}

/** How to run tests. */
export interface RunSettings {
  /** Jobs at a time. */
  readonly jobCount: number;
  /** A job that takes longer is cancelled, and its test fails. */
  readonly limitMs: number;
  readonly model: ChosenModel;
  readonly signal: AbortSignal;
  readonly onResult: (result: TestResult) => void;
}

/**
 * Runs the tests of an agent as jobs, several at a time, and records each result.
 *
 * @throws SwarmClientError or SwarmError when the platform refuses a job; the other jobs are then
 * cancelled.
 */
export async function runEvals(
  sql: Sql,
  client: EvalClient,
  { agent, tests }: AgentEvals,
  { jobCount, limitMs, model, signal, onResult }: RunSettings,
): Promise<FinishedRun> {
  const run = await beginRun(sql, agent, client.userId, model);
  const tag = `eval:${run.id}`;
  const stop = new AbortController();
  const stopped = AbortSignal.any([signal, stop.signal]);
  const ports = createAssertionPorts(sql, client, { tag, signal: stopped });
  const results: TestResult[] = [];
  const waiting = tests.flatMap((test) =>
    Array.from({ length: test.repeatCount }, (_, index) => ({ test, repeat: index + 1 }))
  ).entries();

  async function work(): Promise<void> {
    // All workers take from one iterator.
    for (const [place, { test, repeat }] of waiting) {
      const record = await runJob(client, {
        agent,
        input: test.input,
        metadata: { tag, test: test.name, repeat },
        ...run.agent_changes === null ? {} : { agentChanges: run.agent_changes },
        answers: test.assertions.flatMap(answersOf),
        limitMs,
        signal: stopped,
      });
      const result = await checkRecord(test, repeat, record, ports);
      await recordResult(sql, run.id, result);
      results[place] = result;
      onResult(result);
    }
  }

  const workers = Array.from({ length: jobCount }, async () => {
    try {
      await work();
    } catch (error) {
      stop.abort(error);
      throw error;
    }
  });
  const [failure] = (await Promise.allSettled(workers)).filter((one) => one.status === "rejected");
  if (failure !== undefined) throw stop.signal.reason;
  return { run: await endRun(sql, run.id), results };
}

function answersOf(assertion: Assertion): ReviewAnswer[] {
  if (assertion.type !== "review") return [];
  const { question: _, approved, ...more } = assertion.value;
  return [{ approved, ...definedOnly(more) }];
}
