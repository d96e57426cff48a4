/**
 * Prefix of the keys that this product adds to `_meta` of results and requests. The protocol may
 * reserve keys without a prefix later, so entries that clients rely on exist under both.
 */
export const META_PREFIX = "dev.supaswarm/";

/** The entries twice: under their own names and with the prefix. */
export function underBothNames<T>(entries: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(
    Object.entries(entries).flatMap(([key, value]) => [[key, value], [META_PREFIX + key, value]]),
  );
}
