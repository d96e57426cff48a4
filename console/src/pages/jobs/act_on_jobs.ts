/** How far acting on many jobs has come. */
export interface BatchProgress {
  readonly total: number;
  readonly done: number;
  readonly failures: readonly { readonly id: string; readonly error: unknown }[];
}

/** Requests at a time: enough to be quick, few enough to leave the project responsive. */
const CONCURRENCY = 4;

/**
 * Acts on one job after the other, a few at a time. One that fails does not keep the others from
 * being acted on; after an abort those under way end, and no other is begun.
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
