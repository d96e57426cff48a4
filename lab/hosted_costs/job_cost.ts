import { ANSWER_CHARACTERS, CALLS, RESULT_BYTES, STEPS, TURNS } from "../bench/desk_jobs.ts";
import type { JobCost } from "./monthly_use.ts";

/**
 * One invocation creates a job; a job that runs alone then wakes the worker 1.6 times on average,
 * measured on a stand-in for the hosted platform. Jobs that run at the same time share wakes.
 */
const INVOCATIONS = 2.6;
/** How fast a model writes. */
const CHARACTERS_A_SECOND = 50;
/** Beside the two of each step: created, started, completed. */
const EVENTS = 2 * STEPS + 3;
/** The instructions and the tools' definitions of an agent with a few tools. */
const PROMPT_BYTES = 4_000;
/** Of an event, without the texts of its step. */
const EVENT_BYTES = 250;

/** Figures of a benchmark, as saved. */
export type Figures = Readonly<Record<string, number>>;

/**
 * What a job costs by the saved benchmarks `job_bytes` and `realtime`.
 *
 * @throws Error when a figure is missing.
 */
export function jobCost(
  { jobBytes, realtime }: { readonly jobBytes: Figures; readonly realtime: Figures },
): JobCost {
  const bytes = (...tables: string[]) =>
    tables.reduce((sum, table) => sum + figure(jobBytes, `${table}_bytes`), 0);
  const messagesOfStreamPerSecond = figure(realtime, "watched_per_second") /
    figure(realtime, "streams");
  const streamedSeconds = TURNS * ANSWER_CHARACTERS / CHARACTERS_A_SECOND;
  const textBytes = TURNS * ANSWER_CHARACTERS + CALLS * RESULT_BYTES;
  return {
    invocations: INVOCATIONS,
    sentMessages: EVENTS + Math.round(streamedSeconds * messagesOfStreamPerSecond),
    traceBytes: EVENTS * EVENT_BYTES + textBytes,
    // On average, a prompt repeats half of what the job has written in the end.
    promptBytes: TURNS * (PROMPT_BYTES + textBytes / 2),
    jobBytes: bytes("tasks", "job_totals", "stored_traces"),
    stepBytes: bytes("task_steps"),
    eventBytes: bytes("task_events"),
    ledgerBytes: bytes("mcp_executions", "sessions"),
    modelCallBytes: bytes("usage_events"),
    databaseCpuMs: TURNS * figure(jobBytes, "server_cpu_ms_of_turn"),
    functionCpuMs: TURNS * figure(jobBytes, "worker_cpu_ms_of_turn"),
  };
}

/** @throws Error when it is missing. */
export function figure(figures: Figures, name: string): number {
  const value = figures[name];
  if (value === undefined) {
    throw new Error(`Cannot calculate the costs: docs/benchmarks.json has no ${name}`);
  }
  return value;
}
