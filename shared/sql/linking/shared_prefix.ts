import type { LinkableTable } from "./linkable_table.ts";

/** Fewer tables may begin alike by chance. */
const SHARERS_OF_A_PREFIX = 3;

/** By schema: the prefix that all its names share, such as `sb`. It says nothing of any of them. */
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

/** A name without the prefix, unless nothing would be left of it. */
export function withoutPrefix(name: string, prefix: string): string {
  const isLonger = name.length > prefix.length + 1;
  return isLonger && name.toLowerCase().startsWith(prefix) ? name.slice(prefix.length) : name;
}
