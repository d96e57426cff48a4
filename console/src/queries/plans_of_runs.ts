/** What tells the plan of a write from its run; columns of `mcp_executions`. */
export const PLAN_COLUMNS = "is_dry_run:request_data->>dry_run,write_hash";

/** A call of the ledger that may be the plan or the run of a write. */
export interface PlannedCall {
  readonly id: string;
  /** `"false"` for a run. */
  readonly is_dry_run: string | null;
  /** The same for a plan and its run; null for calls that are neither. */
  readonly write_hash: string | null;
}

/** A call, and the plan that preceded it. */
export type WithPlan<Call> = Call & { readonly plan: Call | null };

/**
 * Calls, newest first, with the plan of a run in the row of the run: a person who confirms a write
 * has made one change. Over the protocol these are two calls.
 */
export function withPlans<Call extends PlannedCall>(calls: readonly Call[]): WithPlan<Call>[] {
  const plans = new Map<string, Call>();
  const waiting = new Map<string | null, string>();
  for (const call of calls) {
    const { id, is_dry_run: isDryRun, write_hash: hash } = call;
    if (hash === null) continue;
    const runId = waiting.get(hash);
    if (isDryRun === "false") waiting.set(hash, id);
    else if (runId !== undefined) {
      waiting.delete(hash);
      plans.set(runId, call);
    }
  }
  const ofRuns = new Set([...plans.values()].map(({ id }) => id));
  return calls.filter(({ id }) => !ofRuns.has(id))
    .map((call) => ({ ...call, plan: plans.get(call.id) ?? null }));
}
