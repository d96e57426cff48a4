import type { Attempt } from "./statement_answer.ts";

/** A statement with which the editor opens, and the earlier attempts. */
export interface SqlStart {
  readonly sql: string;
  readonly attempts: readonly Attempt[];
}

let start: SqlStart | null = null;

/** Stores the statement with which the SQL page opens. */
export function keepSqlStart(kept: SqlStart): void {
  start = kept;
}

/** Returns the stored statement once. */
export function claimSqlStart(): SqlStart | null {
  const kept = start;
  start = null;
  return kept;
}
