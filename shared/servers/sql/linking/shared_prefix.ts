import type { LinkableTable } from "./linkable_table.ts";

/** Minimum number of tables; fewer may share a prefix by chance. */
const SHARERS_OF_A_PREFIX = 3;

/**
 * For each schema, the prefix that all of its table names share, such as `sb`. It does not help to
 * tell them apart.
 */
export function sharedPrefixes(
  tables: readonly Pick<LinkableTable, "schema" | "name">[],
): Map<string, string> {
  const prefixes = new Map<string, string>();
  for (const [schema, own] of Map.groupBy(tables, ({ schema }) => schema)) {
    if (own.length < SHARERS_OF_A_PREFIX) continue;
    const [first = "", ...others] = own.map(({ name }) => name.toLowerCase());
    let length = first.length;
    for (const name of others) {
      while (length > 0 && !name.startsWith(first.slice(0, length))) length--;
    }
    prefixes.set(schema, first.slice(0, length));
  }
  return prefixes;
}

/** A name without the prefix, unless the name is only the prefix. */
export function withoutPrefix(name: string, prefix: string): string {
  const isLonger = name.length > prefix.length + 1;
  return isLonger && name.toLowerCase().startsWith(prefix) ? name.slice(prefix.length) : name;
}
