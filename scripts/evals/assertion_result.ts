/** Whether an assertion holds. */
export interface AssertionResult {
  readonly type: string;
  readonly passed: boolean;
  /** 0 to 1. */
  readonly score: number;
  readonly weight: number;
  /** Why it failed, or null. */
  readonly reason: string | null;
}

/** What a check found: whether it passed, why not, and a score if it is not 0 or 1. */
export interface Finding {
  readonly passed: boolean;
  /** Completes "failed because …". */
  readonly reason: string;
  readonly score?: number;
}

const MAX_SHOWN_CHARACTERS = 120;

/** A value in a reason: its text or JSON, cut to one short line. */
export function shown(value: unknown): string {
  const text = (JSON.stringify(value) ?? "undefined").replaceAll(/\s+/g, " ");
  return text.length <= MAX_SHOWN_CHARACTERS ? text : `${text.slice(0, MAX_SHOWN_CHARACTERS - 1)}…`;
}
