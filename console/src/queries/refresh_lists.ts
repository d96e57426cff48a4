import type { QueryClient } from "@tanstack/vue-query";

const LISTS = [["jobs"], ["reviews"]];

/**
 * Returns a function that reads the lists of jobs and reviews again. It does not cancel a read that
 * runs: while events keep arriving none would end, and neither would that of older jobs. Such a
 * read may lack the latest change, so another one follows.
 */
export function createListRefresh(queries: QueryClient): () => Promise<void> {
  let isReading = false;
  let isOutdated = false;
  return async () => {
    isOutdated = true;
    if (isReading) return;
    isReading = true;
    while (isOutdated) {
      isOutdated = LISTS.some((queryKey) => queries.isFetching({ queryKey }) > 0);
      await Promise.all(
        LISTS.map((queryKey) => queries.invalidateQueries({ queryKey }, { cancelRefetch: false })),
      );
    }
    isReading = false;
  };
}
