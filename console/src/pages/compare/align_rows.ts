import { diffArrays } from "diff";
import { type TraceRow, traceRows } from "../job/trace/trace_model.ts";
import type { ComparedJob } from "../../queries/compared_job.ts";

/** The same place of two traces: a task or step of both, or of one. */
export interface AlignedRow {
  readonly key: string;
  readonly first: TraceRow | null;
  readonly second: TraceRow | null;
  /** It is in one job only, or says something else or ends otherwise. */
  readonly differs: boolean;
}

/** Very different traces of thousands of steps are aligned by their places after this time. */
const ALIGN_LIMIT_MS = 1_000;

/** The tasks and steps of two jobs side by side, in the order in which they stand in the traces. */
export function alignRows(first: ComparedJob, second: ComparedJob): AlignedRow[] {
  const left = rowsOf(first);
  const right = rowsOf(second);
  const parts = diffArrays(left.map(placeOf), right.map(placeOf), { timeout: ALIGN_LIMIT_MS });
  if (parts === undefined) {
    return Array.from(
      { length: Math.max(left.length, right.length) },
      (_, at) => pair(left[at] ?? null, right[at] ?? null),
    );
  }
  let nextLeft = 0;
  let nextRight = 0;
  return parts.flatMap(({ count, added, removed }) =>
    Array.from({ length: count }, () =>
      pair(
        added ? null : left[nextLeft++] ?? null,
        removed ? null : right[nextRight++] ?? null,
      ))
  );
}

function rowsOf({ tasks, steps }: ComparedJob): TraceRow[] {
  return traceRows(tasks, steps, { collapsed: new Set(), isFailedOnly: false, search: "" });
}

/**
 * Rows with the same name at the same depth can be pairs: the jobs themselves, whatever the agent,
 * and model calls, whatever the model.
 */
function placeOf({ level, task, step }: TraceRow): string {
  const name = step === null
    ? ["task", level === 1 ? null : task.agent_slug]
    : step.kind === "model"
    ? ["model"]
    : [step.kind, step.server, step.name];
  return JSON.stringify([level, ...name]);
}

function pair(first: TraceRow | null, second: TraceRow | null): AlignedRow {
  return {
    key: `${first?.key ?? ""} ${second?.key ?? ""}`,
    first,
    second,
    differs: first === null || second === null || saidOf(first) !== saidOf(second),
  };
}

/** What a row says at a glance, and how it ended. */
function saidOf({ task, step }: TraceRow): string {
  return JSON.stringify(
    step === null
      ? [task.agent_slug, task.status]
      : [step.kind, step.server, step.name, step.state, step.error_code, step.summary],
  );
}
