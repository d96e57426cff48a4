import assert from "node:assert/strict";
import { z } from "../../../shared/vendor/zod.js";
import type { ScriptedFailure } from "../../../scripts/models/scripted_failure.ts";
import { waitFor } from "../../../scripts/wait_for.ts";
import { created, sendRequest } from "../create_task_endpoint.ts";
import { addAgent, type AgentRow } from "../operator.ts";
import type { Platform } from "../platform.ts";
import { scriptTurns, type Turn } from "../script.ts";
import {
  type EventView,
  readEvents,
  readSteps,
  readTask,
  type StepView,
  type TaskView,
} from "../task_view.ts";

/** Maximum attempts of a task in these tests: recoverable errors are retried once. */
export const MAX_ATTEMPTS = 2;

/** The end of a task, with its whole trace. */
export interface End {
  readonly task: TaskView;
  readonly steps: readonly StepView[];
  readonly events: readonly EventView[];
}

/** A new agent and its only task. */
export interface Job extends AgentRow {
  readonly turns?: readonly Turn[];
  /** Played before the turns. */
  readonly failures?: readonly ScriptedFailure[];
  readonly budget?: Readonly<Record<string, number>>;
  /** Whether model answers are streamed. @default false */
  readonly isWatched?: boolean;
}

/** Runs a job over HTTP until it has completed or failed. */
export async function runToEnd(platform: Platform, job: Job): Promise<End> {
  const { project, sql, stack: { models, secretKey } } = platform;
  const { slug, turns: [first, ...rest] = [], failures = [], budget = {}, isWatched = false } = job;
  await addAgent(sql, job);
  if (first !== undefined) models.addAgent(scriptTurns(slug, first, ...rest));
  for (const failure of failures) models.failNext(slug, failure);
  const body = {
    agent: slug,
    input: "Go",
    budget,
    watch: isWatched,
    max_attempts: MAX_ATTEMPTS,
  };
  const { task_id } = created(await sendRequest(project, { headers: { apikey: secretKey }, body }));
  const task = await waitFor(async () => {
    const current = await readTask(sql, task_id);
    return /^(completed|failed)$/.test(current.status) ? current : null;
  }, { intervalMs: 50, what: "the end of the task" });
  return { task, steps: await readSteps(sql, task_id), events: await readEvents(sql, task_id) };
}

/** Asserts that the task failed with this code, in its row and at the end of its trace. */
export function assertFailed({ task, events }: End, code: string, says: RegExp): void {
  assert.deepEqual([task.status, task.error?.code], ["failed", code]);
  assert.match(task.error?.message ?? "", says);
  assert.ok(task.error?.hint, "the error has a hint");
  const last = events.at(-1);
  assert.equal(last?.type, "task.failed");
  assert.deepEqual(last?.payload.error, task.error);
}

/** The codes of the errors after which the task was retried. */
export function retriedCodes({ events }: End): unknown[] {
  return events.filter(({ type }) => type === "task.retried")
    .map(({ payload }) => codeOf(payload.error));
}

/** The codes of error results in the transcript. */
export function errorCodes({ steps }: End): unknown[] {
  return steps.filter(({ state }) => state === "failed")
    .map(({ output }) => output.error_code ?? codeOf(output.error));
}

function codeOf(error: unknown): string {
  return z.looseObject({ code: z.string() }).parse(error).code;
}
