import { computed, type Ref } from "vue";

/** What a page needs of a query to show its states, as `useQuery` returns it. */
export interface ShownQuery {
  /** `undefined` until something has come. */
  readonly data: Readonly<Ref<unknown>>;
  readonly error: Readonly<Ref<unknown>>;
  /** When the data came, in milliseconds; 0 if not yet. */
  readonly dataUpdatedAt: Readonly<Ref<number>>;
  refetch(): unknown;
}

/** Several queries that are only shown together: as old as the oldest, and failed if one has. */
export function allOf(...queries: readonly ShownQuery[]): ShownQuery {
  return {
    data: computed(() => {
      const all = queries.map(({ data }) => data.value);
      return all.includes(undefined) ? undefined : all;
    }),
    error: computed(() => queries.find(({ error }) => error.value)?.error.value ?? null),
    dataUpdatedAt: computed(() => Math.min(...queries.map((query) => query.dataUpdatedAt.value))),
    refetch: () => Promise.all(queries.map((query) => query.refetch())),
  };
}
