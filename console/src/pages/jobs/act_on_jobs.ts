/** The progress of an action on many jobs. */
export interface BatchProgress {
  readonly total: number;
  readonly done: number;
  readonly failures: readonly { readonly id: string; readonly error: unknown }[];
}

/** Concurrent requests: enough to be fast, few enough to keep the project responsive. */
const CONCURRENCY = 4;

/**
 * Acts on the jobs, page by page and a few at a time. A failure does not stop the others; after an
 * abort the requests in flight finish, and no new ones start.
 *
 * @param expected The number of jobs, as far as it is known before the last page.
 */
export async function actOnJobs(
  pages: Iterable<readonly string[]> | AsyncIterable<readonly string[]>,
  act: (id: string) => Promise<unknown>,
  { expected, onProgress, signal }: {
    readonly expected: number;
    readonly onProgress: (progress: BatchProgress) => void;
    readonly signal: AbortSignal;
  },
): Promise<BatchProgress> {
  const failures: { id: string; error: unknown }[] = [];
  let done = 0;
  let read = 0;
  const progress = (total: number): BatchProgress => ({ total, done, failures: [...failures] });

  async function work(ids: Iterator<string>): Promise<void> {
    while (!signal.aborted) {
      const next = ids.next();
      if (next.done) return;
      try {
        await act(next.value);
      } catch (error) {
        failures.push({ id: next.value, error });
      }
      done++;
      onProgress(progress(Math.max(expected, read)));
    }
  }

  for await (const page of pages) {
    read += page.length;
    const ids = page.values();
    await Promise.all(Array.from({ length: CONCURRENCY }, () => work(ids)));
    if (signal.aborted) break;
  }
  return progress(read);
}
