import { computed, type Ref } from "vue";

/** The part of a query that a page needs to show its states, as returned by `useQuery`. */
export interface ShownQuery {
  /** `undefined` until the first data has arrived. */
  readonly data: Readonly<Ref<unknown>>;
  readonly error: Readonly<Ref<unknown>>;
  /** The time when the data arrived, in milliseconds; 0 before that. */
  readonly dataUpdatedAt: Readonly<Ref<number>>;
  refetch(): unknown;
}

/** Several queries shown as one: as old as the oldest, and failed if any has failed. */
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
