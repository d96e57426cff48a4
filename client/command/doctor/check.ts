/** The result of one check. */
export interface Check {
  /** What holds if the check passes. */
  readonly claim: string;
  /** What is wrong; null if the check has passed. */
  readonly problem: string | null;
  /** What to do about it. */
  readonly remedy: string;
}

/** A check whose problem is a list of names. */
export function nothingIn(claim: string, names: readonly string[], remedy: string): Check {
  return { claim, problem: names.length === 0 ? null : names.join(", "), remedy };
}
