import type { Attempt } from "./statement_answer.ts";

/** A statement that the editor begins with, and what was tried before it. */
export interface SqlStart {
  readonly sql: string;
  readonly attempts: readonly Attempt[];
}

let start: SqlStart | null = null;

/** Keeps the statement with which the SQL page is to begin. */
export function keepSqlStart(kept: SqlStart): void {
  start = kept;
}

/** Gives the kept statement once. */
export function claimSqlStart(): SqlStart | null {
  const kept = start;
  start = null;
  return kept;
}
