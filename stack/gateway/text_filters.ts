import type { LiteSchema } from "./lite_contract.ts";

const TEXT_TYPES = new Set(["text", "varchar", "bpchar", "citext", "name"]);
const COMPARISON = /^((?:not\.)?(?:eq|neq|gt|gte|lt|lte)\.)(.*)$/s;
const MEMBERSHIP = /^((?:not\.)?in\.\()(.*)\)$/s;

/** An item of a list, with or without quotes. */
const LIST_ITEM = /"(?:[^"\\]|\\.)*"|[^,]+/g;

/** Values that the service parses as a boolean, a null or a number, which loses their spelling. */
const MISREAD = /^(true|false|null|[+-]?(0x[0-9a-f]+|[\d.]+(e[+-]?\d+)?))$/i;

/**
 * Quotes filter values of text columns that the service would parse as another type, so that
 * `version=eq.1.0` finds `1.0` and `flag=eq.true` is not a type error. Does not change filters
 * inside `or=(…)`.
 *
 * @returns The same URL if nothing needs to change.
 */
export function quoteTextFilters(url: URL, { columns }: LiteSchema): URL {
  const table = /^\/rest\/v1\/([^/]+)$/.exec(url.pathname)?.[1];
  if (table === undefined) return url;
  const isText = (filtered: string) =>
    filtered.includes("->>") ||
    columns.some((column) =>
      column.table === table && column.name === filtered && TEXT_TYPES.has(column.pg_type ?? "")
    );
  const parameters = [...url.searchParams].map(([name, value]): [string, string] =>
    isText(name) ? [name, quoteFilter(value)] : [name, value]
  );
  const quoted = new URL(url);
  quoted.search = new URLSearchParams(parameters).toString();
  return quoted.searchParams.toString() === url.searchParams.toString() ? url : quoted;
}

function quoteFilter(filter: string): string {
  const [, comparison, value = ""] = COMPARISON.exec(filter) ?? [];
  if (comparison !== undefined) return comparison + quoteMisread(value);
  const [, membership, list = ""] = MEMBERSHIP.exec(filter) ?? [];
  if (membership === undefined) return filter;
  return `${membership}${list.replace(LIST_ITEM, (item) => quoteMisread(item))})`;
}

function quoteMisread(value: string): string {
  return MISREAD.test(value) ? `"${value}"` : value;
}
