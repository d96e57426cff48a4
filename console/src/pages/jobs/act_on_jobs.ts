/** The progress of an action on many jobs. */
export interface BatchProgress {
  readonly total: number;
  readonly done: number;
  readonly failures: readonly { readonly id: string; readonly error: unknown }[];
}

/** Concurrent requests: enough to be fast, few enough to keep the project responsive. */
const CONCURRENCY = 4;

/**
 * Acts on the jobs, a few at a time. A failure does not stop the others; after an abort the
 * requests in flight finish, and no new ones start.
 */
export async function actOnJobs(
  ids: readonly string[],
  act: (id: string) => Promise<unknown>,
  { onProgress, signal }: {
    readonly onProgress: (progress: BatchProgress) => void;
    readonly signal: AbortSignal;
  },
): Promise<BatchProgress> {
  const failures: { id: string; error: unknown }[] = [];
  let done = 0;
  let next = 0;
  const progress = (): BatchProgress => ({ total: ids.length, done, failures: [...failures] });

  async function work(): Promise<void> {
    while (!signal.aborted) {
      const id = ids[next++];
      if (id === undefined) return;
      try {
        await act(id);
      } catch (error) {
        failures.push({ id, error });
      }
      done++;
      onProgress(progress());
    }
  }

  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  return progress();
}
