import { wordsOf } from "./name_words.ts";
import type { LinkableColumn, LinkableKey, LinkableTable } from "./linkable_table.ts";
import { sharedPrefixes, withoutPrefix } from "./shared_prefix.ts";

/** Generic names that many tables use for their own columns. */
const OWN_NAMES: ReadonlySet<string> = new Set(["id", "uuid", "name", "created_at", "updated_at"]);

/** Shorter suffixes of names match by chance. */
const SHORTEST_FOLDED_KEY = 5;

/** A table with a single-column key that other tables can reference. */
interface KeyedTable {
  readonly index: number;
  readonly schema: string;
  readonly column: LinkableColumn;
  /** Suffix of a column that references it: `user id`, `cust id`. */
  readonly endings: readonly (readonly string[])[];
}

/**
 * Adds foreign keys that no constraint declares, inferred from names: a column with the name of
 * another table's key (`did`), or with the names of that table and its key (`user_id`, `sbTxCustId`
 * for `sbCustomer.sbCustId`, and `sbtxcustid` where the case of names is lost). Inferred keys only
 * determine which tables are shown together.
 */
export function withInferredKeys(tables: readonly LinkableTable[]): LinkableTable[] {
  const keyed = tables.flatMap((table, index): KeyedTable[] => {
    const column = keyColumnOf(table);
    return column === null
      ? []
      : [{ index, schema: table.schema, column, endings: endingsOf(table, column) }];
  });
  const prefixes = sharedPrefixes(tables);
  const bySchema = Map.groupBy(keyed, ({ schema }) => schema);
  const byName = Map.groupBy(keyed, ({ column }) => column.name.toLowerCase());
  const byEnding = Map.groupBy(
    keyed.flatMap((key) => key.endings.map((ending) => ({ ending: ending.join(" "), key }))),
    ({ ending }) => ending,
  );
  return tables.map((table, index) => {
    const declared = new Set(table.foreignKeys.flatMap(({ columns }) => columns));
    const inferred = table.columns.flatMap((column): LinkableKey[] => {
      if (declared.has(column.name)) return [];
      const lowerName = column.name.toLowerCase();
      const sameName = OWN_NAMES.has(lowerName) ? [] : byName.get(lowerName) ?? [];
      const ending = wordsOf(column.name).slice(-2).join(" ");
      const prefix = prefixes.get(table.schema) ?? "";
      const folded = (bySchema.get(table.schema) ?? []).filter((key) =>
        endsLikeKey(lowerName, withoutPrefix(key.column.name.toLowerCase(), prefix))
      );
      const candidates = [
        ...sameName,
        ...(byEnding.get(ending) ?? []).map(({ key }) => key),
        ...folded,
      ].filter((key) => isOther(key, index, column));
      const target = nearestTo(table.schema, index, candidates);
      if (target === undefined) return [];
      return [{
        columns: [column.name],
        target: target.index,
        targetColumns: [target.column.name],
        isInferred: true,
      }];
    });
    return inferred.length === 0
      ? table
      : { ...table, foreignKeys: [...table.foreignKeys, ...inferred] };
  });
}

function isOther(key: KeyedTable, index: number, { type }: LinkableColumn): boolean {
  return key.index !== index && key.column.type === type;
}

function endsLikeKey(lowerName: string, key: string): boolean {
  return key.length >= SHORTEST_FOLDED_KEY && isKeyName(key) && lowerName.endsWith(key);
}

/**
 * Prefers a key in the table's own schema, then the nearest table, because related tables are often
 * created together.
 */
function nearestTo(
  schema: string,
  index: number,
  keys: readonly KeyedTable[],
): KeyedTable | undefined {
  const own = keys.filter((key) => key.schema === schema);
  return (own.length > 0 ? own : keys).toSorted((a, b) =>
    Math.abs(a.index - index) - Math.abs(b.index - index)
  )[0];
}

/**
 * The primary key. If there is none, and the table has columns besides keys, it is the key named
 * after the table (`pid` of `publication`), otherwise the first column if it is named like a key.
 */
function keyColumnOf({ name, columns, primaryKey }: LinkableTable): LinkableColumn | null {
  if (primaryKey.length > 1) return null;
  const [primary] = primaryKey;
  if (primary !== undefined) return columns.find(({ name }) => name === primary) ?? null;
  if (columns.every(({ name }) => isKeyName(name))) return null;
  const keys = columns.filter((column) => isKeyName(column.name));
  const own = keys.find((key) => name.toLowerCase().startsWith(withoutKeyEnding(key.name)));
  const [first] = columns;
  return own ?? (first !== undefined && keys.includes(first) ? first : null);
}

function withoutKeyEnding(name: string): string {
  return name.replace(/_?(id|Id|ID|uuid|code|key)$/, "").toLowerCase();
}

function isKeyName(name: string): boolean {
  return /(id|Id|ID|uuid|code|key)$/.test(name);
}

function endingsOf(table: LinkableTable, { name }: LinkableColumn): string[][] {
  const own = wordsOf(name);
  const entity = wordsOf(table.name).at(-1);
  const ofTable = entity === undefined ? [] : [[entity, "id"]];
  return own.length >= 2 ? [own.slice(-2), ...ofTable] : ofTable;
}
