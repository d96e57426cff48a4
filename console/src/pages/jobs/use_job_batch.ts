// deno-lint-ignore-file explicit-module-boundary-types -- a query has the type of its answer
import { useQueryClient } from "@tanstack/vue-query";
import { onScopeDispose, shallowRef } from "vue";
import { showFailure, showSuccess } from "../../app/toasts.ts";
import { formatCount } from "../../format/numbers.ts";
import { actOnJobs, type BatchProgress } from "./act_on_jobs.ts";

/** An action on many jobs. */
export interface JobBatch {
  /** Their ids; the next page is read when the one before is done. */
  readonly pages: Iterable<readonly string[]> | AsyncIterable<readonly string[]>;
  /** How many there are, as the page shows it. */
  readonly expected: number;
  readonly act: (id: string) => Promise<unknown>;
  /** What was done, such as `Retried`. */
  readonly done: string;
}

/** Acts on many jobs, with a progress to show; it stops when the component is removed. */
export function useJobBatch() {
  const queries = useQueryClient();
  /** Of the running batch, or of the last one if some jobs failed. */
  const progress = shallowRef<BatchProgress | null>(null);
  const running = shallowRef<AbortController | null>(null);
  onScopeDispose(() => running.value?.abort());

  /** Returns the IDs of the jobs on which the action failed; null if it could not begin. */
  async function run({ pages, expected, act, done }: JobBatch): Promise<readonly string[] | null> {
    const abort = running.value = new AbortController();
    progress.value = null;
    try {
      const end = await actOnJobs(pages, act, {
        expected,
        onProgress: (step) => (progress.value = step),
        signal: abort.signal,
      });
      progress.value = end.failures.length > 0 ? end : null;
      const count = end.done - end.failures.length;
      if (count > 0) showSuccess(`${done} ${formatCount(count)} ${count === 1 ? "job" : "jobs"}`);
      return end.failures.map(({ id }) => id);
    } catch (error) {
      showFailure(error);
      return null;
    } finally {
      running.value = null;
      void queries.invalidateQueries({ queryKey: ["jobs"] });
      void queries.invalidateQueries({ queryKey: ["operations"] });
    }
  }

  return { progress, running, run };
}
