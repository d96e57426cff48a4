/**
 * Prefix of the keys that this product adds to `_meta`, of results and of what it sends to other
 * servers. Keys without one may be claimed by the protocol later, so what clients rely on stands
 * under both.
 */
export const META_PREFIX = "dev.supaswarm/";

/** The entries twice: under their own names and with the prefix. */
export function underBothNames<T>(entries: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(
    Object.entries(entries).flatMap(([key, value]) => [[key, value], [META_PREFIX + key, value]]),
  );
}
