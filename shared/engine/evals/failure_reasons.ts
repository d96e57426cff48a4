/** The result of a job, as far as its reasons need it. */
export interface JudgedJob {
  /** Why the job did not complete, or null. */
  readonly error: string | null;
  readonly assertions: readonly { readonly type: string; readonly reason: string | null }[];
}

/** Why a job did not pass: its error, or else a text for each assertion that failed. */
export function failureReasons({ error, assertions }: JudgedJob): readonly string[] {
  if (error !== null) return [error];
  return assertions.flatMap(({ type, reason }) => reason === null ? [] : [`${type}: ${reason}`]);
}
